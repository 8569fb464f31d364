// An app that is not an interpreter. Makes the given calls on one connection, and prints each reply on a line. Instead of an empty
// call, it waits for the end of its input.
// usage: caller SOCKET CALL…
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int count, char **arguments) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (count < 2 || strlen(arguments[1]) >= sizeof address.sun_path) return 2;
    strcpy(address.sun_path, arguments[1]);
    int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(connection, (struct sockaddr *)&address, sizeof address) != 0) {
        perror("connect");
        return 1;
    }
    for (int index = 2; index < count; index++) {
        size_t length = strlen(arguments[index]) + 1;
        if (length == 1) {
            for (char byte; read(STDIN_FILENO, &byte, 1) > 0;) {}
            continue;
        }
        if (send(connection, arguments[index], length, MSG_NOSIGNAL) != (ssize_t)length) {
            puts("closed");
            return 1;
        }
        for (;;) {
            char byte;
            if (read(connection, &byte, 1) != 1) {
                puts("closed");
                return 1;
            }
            if (byte == 0) break;
            putchar(byte);
        }
        putchar('\n');
        fflush(stdout);
    }
    return 0;
}
