import os, sys, varlink
places = [os.environ.get("CONTACTBROKER_RUNTIME_DIR"), "/run/contactbroker", os.environ.get("XDG_RUNTIME_DIR", "") + "/contactbroker"]
runtime = next((place for place in places if place and os.path.exists(place + "/apps")), None) or exit("no contact broker is running")
with varlink.Client("unix:" + runtime + "/apps/io.contactbroker.Contacts") as client:
    with client.open("io.contactbroker.Contacts") as broker:
        granted = broker.RequestContacts(query=" ".join(sys.argv[1:]))["identifiers"]
        keys = ["givenName", "familyName", "phoneNumbers", "emailAddresses"]
        for contact in broker.FetchContacts(predicate={"identifiers": granted}, keys=keys)["contacts"] if granted else []:
            addresses = [each["value"] for key in keys[2:] for each in contact[key]]
            print(contact["givenName"] + " " + contact["familyName"], *addresses, sep="\n  ")
