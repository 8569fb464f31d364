#!/bin/sh
# Asks the person for one e-mail address, once, and prints the reply. In Varlink, each call and each reply is a JSON object
# followed by a zero byte. A shell cannot connect to a Unix socket, but Perl can, and every Debian has it.
# With systemd's varlinkctl: varlinkctl call "unix:$door" io.contactbroker.Contacts.PickContacts "$parameters"
set -eu

for folder in "${CONTACTBROKER_RUNTIME_DIR:-}" /run/contactbroker "${XDG_RUNTIME_DIR:-}/contactbroker"; do
    door="$folder/apps/io.contactbroker.Contacts"
    if [ -n "$folder" ] && [ -S "$door" ]; then break; fi
done
parameters='{"keys":["givenName","emailAddresses"],"select":"property","purpose":"to write an e-mail"}'

exec perl -MIO::Socket::UNIX -e '
    my ($door, $call) = @ARGV;
    my $broker = IO::Socket::UNIX->new($door) or die "pick.sh: could not reach the broker at $door: \L$!\n";
    $broker->printflush("$call\0");
    $/ = "\0";
    my $reply = <$broker> // die "pick.sh: the broker hung up\n";
    chomp $reply;
    print "$reply\n";
    exit($reply =~ /^\{"error"/ ? 1 : 0);
' "$door" '{"method":"io.contactbroker.Contacts.PickContacts","parameters":'"$parameters"'}'
