"""What the adversaries need to try: users, doors, a person at a terminal, and a way to say what they got."""
