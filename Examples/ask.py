import os, sys, varlink

runtime = os.environ.get("CONTACTBROKER_RUNTIME_DIR") or os.environ["XDG_RUNTIME_DIR"] + "/contactbroker"
with varlink.Client("unix:" + runtime + "/apps/io.contactbroker.Contacts") as client:
    with client.open("io.contactbroker.Contacts") as broker:
        granted = broker.RequestContacts(query=" ".join(sys.argv[1:]))["identifiers"]
        keys = ["givenName", "familyName", "phoneNumbers", "emailAddresses"]
        for contact in broker.FetchContacts(predicate={"identifiers": granted}, keys=keys)["contacts"] if granted else []:
            addresses = [each["value"] for key in keys[2:] for each in contact[key]]
            print(contact["givenName"] + " " + contact["familyName"], *addresses, sep="\n  ")
