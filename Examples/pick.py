import os, varlink

places = [os.environ.get("CONTACTBROKER_RUNTIME_DIR"), "/run/contactbroker", os.environ.get("XDG_RUNTIME_DIR", "") + "/contactbroker"]
runtime = next((place for place in places if place and os.path.exists(place + "/apps")), None) or exit("no contact broker is running")
with varlink.Client("unix:" + runtime + "/apps/io.contactbroker.Contacts") as client:
    with client.open("io.contactbroker.Contacts") as broker:
        rule = {"hasKeys": ["emailAddresses"]}
        picked = broker.PickContacts(select="property", enabling=rule, keys=["givenName", "emailAddresses"])
        for each in picked.get("properties", []):
            print(each["contact"]["givenName"], each["contact"]["emailAddresses"][0]["value"])
