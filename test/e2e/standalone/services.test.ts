import assert from 'node:assert/strict'
import process from 'node:process'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startLab } from '../lab/start-lab.ts'
import { WorkloadNode } from './workload-node.ts'

const deployment = (name: string, command: string, replicas: number) => `apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}}
spec:
  replicas: ${replicas}
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
const SERVER = 'mkdir -p /tmp/w && hostname > /tmp/w/index.html && exec httpd -f -p 8080 -h /tmp/w'
const OBJECTS = `${deployment('web', SERVER, 2)}${deployment('client', 'exec sleep 1000', 1)}apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  type: NodePort
  selector: {app: web}
  ports: [{name: http, port: 80, targetPort: 8080, nodePort: 30080}]
`
// Nothing may come to the servers but from pods with a label that the client does not have; the node's probes still do.
const POLICY = `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: web}
spec:
  podSelector: {matchLabels: {app: web}}
  ingress: [{from: [{podSelector: {matchLabels: {friend: "yes"}}}]}]
`
const FETCH = 'fetch(process.argv[1]).then((r) => r.text()).then(console.log)'
const TOKEN = '/var/run/secrets/kubernetes.io/serviceaccount'

describe('services of a standalone node', () => {
  test('pods find each other and the API by name; without pods a service refuses; down takes the rules along', async () => {
    await using lab = await startLab()
    const node = new WorkloadNode(lab)
    await node.up()
    await node.kubectl('apply', '-f', await node.write('services.yaml', OBJECTS))
    for (const name of ['web', 'client']) await node.kubectl('rollout', 'status', `deployment/${name}`, '--timeout=25s')
    const inClient = (...argv: readonly string[]) => node.tryKubectl('exec', 'deployment/client', '--', ...argv)
    const until = async (what: string, argv: readonly string[], holds: (text: string) => boolean) => {
      for (let tries = 0; ; tries += 1) {
        const { stdout, stderr } = await inClient(...argv)
        if (holds(stdout + stderr)) return stdout
        assert.ok(tries < 50, `${what}: ${stdout}${stderr}`)
        await sleep(100)
      }
    }
    // By the short name, with the search path of its namespace.
    await until('by name', ['wget', '-q', '-T', '2', '-O', '-', 'http://web/'], (text) => text.startsWith('web-'))
    const { stdout: resolv } = await inClient('cat', '/etc/resolv.conf')
    assert.match(resolv, /search default\.svc\.cluster\.local svc\.cluster\.local cluster\.local/)
    assert.match(resolv, /options ndots:5/)
    // The node reaches it too, by the service's address and by its own port.
    const addressOf = (name: string) => node.kubectl('get', 'service', name, '-o', 'jsonpath={.spec.clusterIP}')
    const api = await addressOf('kubernetes')
    for (const url of [`http://${await addressOf('web')}/`, `http://${api}:30080/`]) {
      const answer = await lab.runInside([process.execPath, '-e', FETCH, url])
      assert.match(answer.stdout, /^web-/, `${url}: ${answer.stderr}`)
    }
    // The API at the address of its service, by name, with the certificate that says so.
    const { stdout: hosts } = await inClient('nslookup', 'kubernetes.default.svc.cluster.local')
    assert.ok(hosts.includes(api), hosts)
    const token = (await inClient('cat', `${TOKEN}/token`)).stdout
    const ca = await node.write('ca.crt', (await inClient('cat', `${TOKEN}/ca.crt`)).stdout)
    const asked = await lab.runInside([
      'kubectl',
      `--server=https://${api}`,
      `--certificate-authority=${ca}`,
      `--token=${token}`,
      'get',
      'pods',
    ])
    // It knows who asks, and that this one has no right to.
    assert.match(asked.stderr, /User "system:serviceaccount:default:default" cannot list resource "pods"/)
    await node.kubectl('apply', '-f', await node.write('policy.yaml', POLICY))
    assert.match(await node.kubectl('describe', 'networkpolicy', 'web'), /PodSelector: friend=yes/)
    const ask = ['wget', '-q', '-T', '1', '-O', '-', 'http://web/']
    await until('denied', ask, (text) => /timed out|exit code 143/.test(text))
    const nodeAsks = await lab.runInside([process.execPath, '-e', FETCH, `http://${await addressOf('web')}/`])
    assert.match(nodeAsks.stdout, /^web-/, nodeAsks.stderr)
    const client = (await node.kubectl('get', 'pods', '-l', 'app=client', '-o', 'name')).trim()
    await node.kubectl('label', client, 'friend=yes')
    await until('allowed', ask, (text) => text.startsWith('web-'))
    await node.kubectl('scale', 'deployment/web', '--replicas=0')
    await until('refused', ['wget', '-q', '-T', '2', '-O', '-', 'http://web/'], (text) => /refused/.test(text))
    await node.down()
    const { stdout: tables } = await lab.runInside(['nft', 'list', 'tables'])
    assert.doesNotMatch(tables, /deckhand/)
    const { stdout: devices } = await lab.runInside(['ip', '-o', 'link'])
    assert.doesNotMatch(devices, /dhs-/)
  })
})
