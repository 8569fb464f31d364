"""A minimal Varlink client over a Unix socket, for valid and invalid calls."""

import json
import socket

APPS = "/run/contactbroker/apps/io.contactbroker.Contacts"
AGENT = "/run/contactbroker/agent/io.contactbroker.Agent"
ADMIN = "/run/contactbroker/admin/io.contactbroker.Admin"
IDENTIFY = "/run/contactbroker/identify/identify.sock"
DOORS = {"io.contactbroker.Contacts": APPS, "io.contactbroker.Agent": AGENT, "io.contactbroker.Admin": ADMIN}


class Refused(Exception):
    """The broker answered with an error."""

    def __init__(self, name, parameters):
        super().__init__(name.rsplit(".", 1)[-1])
        self.name = name.rsplit(".", 1)[-1]
        self.parameters = parameters


class Closed(Exception):
    """The broker closed the connection, or never accepted it."""


class Connection:
    def __init__(self, path, timeout=20):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(timeout)
        self.buffer = b""
        self.socket.connect(path)

    def send(self, method, parameters=None, more=False):
        call = {"method": method, "parameters": parameters or {}}
        if more:
            call["more"] = True
        self.write(json.dumps(call).encode() + b"\0")

    def write(self, data):
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise Closed() from error

    def receive(self):
        while b"\0" not in self.buffer:
            try:
                data = self.socket.recv(65536)
            except ConnectionResetError as error:
                raise Closed() from error
            if not data:
                raise Closed()
            self.buffer += data
        frame, self.buffer = self.buffer.split(b"\0", 1)
        reply = json.loads(frame)
        if "error" in reply:
            raise Refused(reply["error"], reply.get("parameters", {}))
        return reply.get("parameters", {})

    def call(self, method, parameters=None, more=False):
        self.send(method, parameters, more)
        return self.receive()

    def close(self):
        self.socket.close()


def call(method, parameters=None, timeout=20):
    """One call at the socket of the method's interface."""
    connection = Connection(DOORS[method.rsplit(".", 1)[0]], timeout)
    try:
        return connection.call(method, parameters)
    finally:
        connection.close()


def contacts(method, timeout=20, **parameters):
    return call("io.contactbroker.Contacts." + method, parameters, timeout)


def admin(method, timeout=20, **parameters):
    return call("io.contactbroker.Admin." + method, parameters, timeout)


def attempt(function, *arguments, **parameters):
    """Returns the error's name, or `None`, and the parameters of the reply or the error."""
    try:
        return None, function(*arguments, **parameters)
    except Refused as refused:
        return refused.name, refused.parameters
    except Closed:
        return "connection closed", None
    except PermissionError:
        return "permission denied", None
    except FileNotFoundError:
        return "no such file", None
    except TimeoutError:
        return "no answer", None
    except OSError as error:
        return error.strerror or str(error), None
