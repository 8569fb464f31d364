import os, varlink

places = [os.environ.get("CONTACTBROKER_RUNTIME_DIR"), "/run/contactbroker", os.environ.get("XDG_RUNTIME_DIR", "") + "/contactbroker"]
runtime = next((place for place in places if place and os.path.exists(place + "/apps")), None) or exit("no contact broker is running")
with varlink.Client("unix:" + runtime + "/apps/io.contactbroker.Contacts") as client:
    with client.open("io.contactbroker.Contacts") as watcher, client.open("io.contactbroker.Contacts") as reader:
        reader.RequestAccess(purpose="to say what changes")
        token = None
        for change in watcher.WatchChanges(_more=True):
            if token is None: print("watching", flush=True)
            keys = ["givenName", "familyName"]
            for page in reader.FetchHistory(token=token, keys=keys, _more=True) if token else []:
                for event in page["events"]:
                    contact = event.get("contact", {})
                    name = contact.get("givenName", "") + " " + contact.get("familyName", "")
                    print(event["kind"], name.strip() or event.get("identifier", ""), flush=True)
            token = change["historyToken"]
