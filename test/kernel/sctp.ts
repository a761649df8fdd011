import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { TestContext } from 'node:test'
import type { Host } from './network-lab.ts'

// Many kernels have no sockets of SCTP, and Node has none for raw packets: Perl, which every Debian has, makes them by hand. What both sides need: a
// packet with the right checksum, and what is in one.
const COMMON = `
use strict; use Socket; use Errno;
$| = 1;
my ($INIT, $INIT_ACK) = (1, 2);
sub crc32c {
  my $crc = 0xffffffff;
  for my $byte (unpack 'C*', shift) {
    $crc ^= $byte;
    $crc = ($crc >> 1) ^ ($crc & 1 ? 0x82f63b78 : 0) for 1 .. 8;
  }
  return $crc ^ 0xffffffff;
}
# The first chunk of an association or the answer to it: a tag, a window, streams, and a cookie in the answer.
sub packet {
  my ($from, $to, $verification, $type, $tag, $parameters) = @_;
  $parameters .= "\\0" x (-length($parameters) % 4);
  my $chunk = pack('CCnNNnnN', $type, 0, 20 + length $parameters, $tag, 65536, 1, 1, $tag) . $parameters;
  my $head = pack('nnN', $from, $to, $verification);
  return $head . pack('V', crc32c($head . "\\0\\0\\0\\0" . $chunk)) . $chunk;
}
# Source, destination, and what follows the header of IP; nothing where the checksum is wrong.
sub read_packet {
  my $ip = shift;
  my $sctp = substr $ip, 4 * (ord($ip) & 15);
  my $sum = unpack 'V', substr $sctp, 8, 4;
  return if crc32c(substr($sctp, 0, 8) . "\\0\\0\\0\\0" . substr($sctp, 12)) != $sum;
  my ($from, $to, $verification, undef, $type, undef, undef, $tag) = unpack 'nnNNCCnN', $sctp;
  return { source => inet_ntoa(substr $ip, 12, 4), destination => inet_ntoa(substr $ip, 16, 4), from => $from, to => $to,
    verification => $verification, type => $type, tag => $tag, cookie => substr $sctp, 36 };
}
sub open_raw { socket(my $raw, PF_INET, SOCK_RAW, 132) or die "socket: $!"; return $raw }
my $raw = open_raw();
`
// Answers, from the address that was asked, with its name, who asked and whom it was sent to, each with its port.
const SERVER = `${COMMON}
my $name = shift;
print "ready\\n";
while (defined(my $peer = recv $raw, my $ip, 65535, 0)) {
  my $got = read_packet($ip) or next;
  next if $got->{type} != $INIT or $got->{verification} != 0;
  my $text = "$name $got->{source}:$got->{from} $got->{destination}:$got->{to}";
  my $cookie = pack('nn', 7, 4 + length $text) . $text;
  my $answering = open_raw();
  bind $answering, pack_sockaddr_in(0, inet_aton($got->{destination})) or die "bind: $!";
  send $answering, packet($got->{to}, $got->{from}, $got->{tag}, $INIT_ACK, 77, $cookie), 0, $peer;
}
`
// Takes only answers from the address and port that it asked, to its own port, with its own tag.
const CLIENT = `${COMMON}
my ($address, $port, $own) = @ARGV;
my $tag = 1 + int rand 0xfffffffe;
sub done { print "$_[0]\\n"; exit 0 }
sub failed { my $error = $!; for (qw(ECONNREFUSED EPERM EHOSTUNREACH)) { done($_) if $!{$_} } done($error) }
$SIG{ALRM} = sub { done('timeout') };
alarm 2;
connect $raw, pack_sockaddr_in(0, inet_aton($address)) or failed();
send($raw, packet($own, $port, 0, $INIT, $tag, ''), 0) or failed();
while (1) {
  defined recv($raw, my $ip, 65535, 0) or failed();
  my $got = read_packet($ip) or done('a wrong checksum');
  next if $got->{type} != $INIT_ACK or $got->{to} != $own;
  done("an answer from port $got->{from}") if $got->{from} != $port;
  done('an answer with a wrong tag') if $got->{verification} != $tag;
  done($got->{cookie} =~ s/\\0+$//r);
}
`
const TRACKED = '/proc/sys/net/netfilter/nf_conntrack_sctp_timeout_closed'

/** Why packets of SCTP show nothing on this kernel; undefined when they do. */
export async function findSctpObstacle(host: Host): Promise<string | undefined> {
  const protocols = await readFile('/proc/net/protocols', 'utf8')
  if (/^SCTP/m.test(protocols)) return 'this kernel has sockets of SCTP, and answers packets made by hand itself'
  // Loads what tracks connections, where that is a module.
  await host.run('conntrack', '--count')
  const isTracked = await readFile(TRACKED).catch(() => undefined)
  return isTracked === undefined ? 'the connection tracking of this kernel does not know SCTP' : undefined
}

/** Answers the first packet of associations on all ports and addresses of a host. */
export async function serveSctp(t: TestContext, host: Host, name: string): Promise<void> {
  const argv = ['--pdeathsig', 'KILL', ...host.enter, 'perl', '-e', SERVER, name]
  const server = spawn('/usr/bin/setpriv', argv, { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => server.kill('SIGKILL'))
  await once(server.stdout, 'data')
}

/** Sends the first packet of an association; returns what the server says, an error code or "timeout". */
export async function askSctp(host: Host, address: string, port: number, from: number): Promise<string> {
  return (await host.run('perl', '-e', CLIENT, address, String(port), String(from))).trim()
}
