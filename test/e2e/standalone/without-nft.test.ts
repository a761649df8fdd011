import assert from 'node:assert/strict'
import process from 'node:process'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startLab } from '../lab/start-lab.ts'
import type { Lab } from '../lab/start-lab.ts'
import { WorkloadNode } from './workload-node.ts'

const deployment = (name: string, command: string) => `apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}}
spec:
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec:
      terminationGracePeriodSeconds: 0
      containers:
      - name: main
        image: deckhand.local/busybox:1
        imagePullPolicy: Never
        command: [sh, -c, '${command}']
---
`
const SERVER = 'mkdir /tmp/w && hostname > /tmp/w/index.html && exec httpd -f -p 8080 -h /tmp/w'
const OBJECTS = `${deployment('web', SERVER)}${deployment('client', 'exec sleep 1000')}apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  type: NodePort
  selector: {app: web}
  ports: [{port: 80, targetPort: 8080, nodePort: 30080}]
`
const POLICY = `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: web}
spec: {podSelector: {}}
`
const NO_NFT = 'nft is not installed, so nothing could enforce it; on Debian: apt-get install nftables'
const WGET = ['wget', '-q', '-T', '2', '-O', '-']
const FETCH = 'fetch(process.argv[1]).then((r) => r.text()).then(console.log)'

/** As on a machine without the package: the file that is there cannot be run. Returns where it was. */
async function hideNft(lab: Lab): Promise<string> {
  const script = 'path=$(command -v nft) && : > "$1" && mount --bind "$1" "$path" && echo "$path"'
  const { exitCode, stdout, stderr } = await lab.runInside(['sh', '-c', script, 'sh', `${lab.folder}/no-program`])
  assert.equal(exitCode, 0, stderr)
  return stdout.trim()
}

/** A machine beside the node that knows only its address, and none of the pods': it answers on port 8080. */
async function startNeighbour(lab: Lab): Promise<string> {
  const script = `set -e
    ip netns add neighbour
    ip link add out0 type veth peer name eth0 netns neighbour
    ip address add 192.0.2.1/24 dev out0
    ip link set out0 up
    ip -n neighbour address add 192.0.2.2/24 dev eth0
    ip -n neighbour link set eth0 up
    mkdir "$1" && echo neighbour > "$1/index.html"
    ip netns exec neighbour busybox httpd -p 8080 -h "$1" < /dev/null > /dev/null 2>&1`
  const { exitCode, stderr } = await lab.runInside(['sh', '-c', script, 'sh', `${lab.folder}/neighbour`])
  assert.equal(exitCode, 0, stderr)
  return '192.0.2.2:8080'
}

describe('a standalone node on a machine without nft', () => {
  test('pods reach services by name, ports of the node and neighbours, policies are refused, down leaves nothing', async () => {
    await using lab = await startLab()
    const nft = await hideNft(lab)
    const neighbour = await startNeighbour(lab)
    const node = new WorkloadNode(lab)
    const said = await node.up()
    assert.match(said, /^nft is not installed: the rules of Services are written with iptables$/m)
    assert.doesNotMatch(said, /warning/)
    await node.kubectl('apply', '-f', await node.write('objects.yaml', OBJECTS))
    for (const name of ['web', 'client']) await node.kubectl('rollout', 'status', `deployment/${name}`, '--timeout=25s')

    const inClient = async (url: string) => {
      const { stdout, stderr } = await node.tryKubectl('exec', 'deployment/client', '--', ...WGET, url)
      return stdout + stderr
    }
    for (let tries = 0; !(await inClient('http://web/')).startsWith('web-'); tries += 1) {
      assert.ok(tries < 50, await inClient('http://web/'))
      await sleep(100)
    }
    const api = await node.kubectl('get', 'service', 'kubernetes', '-o', 'jsonpath={.spec.clusterIP}')
    const asked = await lab.runInside([process.execPath, '-e', FETCH, `http://${api}:30080/`])
    assert.match(asked.stdout, /^web-/, asked.stderr)
    // Its answer finds the way only to the address of the node.
    assert.equal(await inClient(`http://${neighbour}/`), 'neighbour\n')

    const refused = await node.tryKubectl('apply', '-f', await node.write('policy.yaml', POLICY))
    assert.equal(refused.exitCode, 1)
    const text = `networkpolicies.networking.k8s.io is forbidden: ${NO_NFT}`
    assert.ok(refused.stderr.trim().endsWith(text), refused.stderr)
    const { stdout: status } = await node.deckhand('status')
    assert.match(status, /^services {3}addresses in 10\.\d+\.0\.0\/16, with rules of iptables: nft is not installed$/m)
    assert.ok(status.includes(`\npolicies   not taken: ${NO_NFT}\n`), status)

    const listing = 'iptables-save && ip6tables-save && ip -o link'
    const { stdout: during } = await lab.runInside(['sh', '-c', listing])
    assert.match(during, /^:DH-\S+-SVC /m)
    assert.match(during, /^:DHM-\S+-POST /m)
    await node.down()
    const { stdout: left, exitCode } = await lab.runInside([
      'sh',
      '-c',
      `${listing} && umount ${nft} && nft list tables`,
    ])
    assert.equal(exitCode, 0)
    assert.doesNotMatch(left, /\b(?:DHM?|CNI)-|\bdhs?-|deckhand/)
  })
})
