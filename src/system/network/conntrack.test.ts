import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseFlow } from './conntrack.ts'

test('a line of conntrack says who asked whom, and who answers', () => {
  const line =
    'udp      17 29 src=10.1.0.4 dst=10.0.0.5 sport=4000 dport=53 [UNREPLIED] src=10.1.0.2 dst=10.1.0.4 sport=5353 dport=4000 mark=0 use=1'
  assert.deepEqual(parseFlow(line, 'ipv4'), {
    family: 'ipv4',
    source: '10.1.0.4',
    sourcePort: 4000,
    destination: '10.0.0.5',
    destinationPort: 53,
    replySource: '10.1.0.2',
    replyPort: 5353,
  })
  assert.equal(parseFlow('conntrack v1.4.7 (conntrack-tools): 0 flow entries', 'ipv4'), undefined)
})
