import os, varlink

runtime = os.environ.get("CONTACTBROKER_RUNTIME_DIR") or os.environ["XDG_RUNTIME_DIR"] + "/contactbroker"
with varlink.Client("unix:" + runtime + "/apps/io.contactbroker.Contacts") as client:
    with client.open("io.contactbroker.Contacts") as broker:
        rule = {"hasKeys": ["emailAddresses"]}
        picked = broker.PickContacts(select="property", enabling=rule, keys=["givenName", "emailAddresses"])
        for each in picked.get("properties", []):
            print(each["contact"]["givenName"], each["contact"]["emailAddresses"][0]["value"])
