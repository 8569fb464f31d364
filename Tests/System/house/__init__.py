"""Support for the adversaries: users, sockets, a person at a terminal, and the reporting of results."""
