import assert from 'node:assert/strict'
import process from 'node:process'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { selfSigned } from '../../fixtures/self-signed.ts'
import { startLab } from '../lab/start-lab.ts'
import type { Lab } from '../lab/start-lab.ts'
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
const PODS = [deployment('web', SERVER, 2), deployment('lone', SERVER, 1), deployment('client', 'exec sleep 1000', 1)]
const OBJECTS = `${PODS.join('')}apiVersion: v1
kind: Service
metadata: {name: lone}
spec: {selector: {app: lone}, ports: [{port: 80, targetPort: 8080}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  type: NodePort
  selector: {app: web}
  ports: [{name: http, port: 80, targetPort: 8080, nodePort: 30080}]
`
const SIX = `apiVersion: v1
kind: Service
metadata: {name: six}
spec: {ipFamilies: [IPv6], selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}
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

const GET = `const [url, host] = process.argv.slice(1)
const options = { headers: { host }, servername: host, rejectUnauthorized: false }
process.getBuiltinModule(url.startsWith('https') ? 'node:https' : 'node:http').get(url, options, async (answer) => {
  const subject = answer.socket.getPeerCertificate?.().subject?.CN ?? ''
  let text = ''
  for await (const chunk of answer) text += chunk
  console.log(answer.statusCode, subject, text.trim())
})`

/** By kubectl, as people make them: a host with a certificate, and all others. */
async function checkIngress(lab: Lab, node: WorkloadNode): Promise<void> {
  assert.match(await node.kubectl('get', 'ingressclass'), /^deckhand \(default\) +deckhand\.local\/ingress +<none>/m)
  const cert = await node.write('tls.crt', selfSigned.cert)
  const key = await node.write('tls.key', selfSigned.key)
  await node.kubectl('create', 'secret', 'tls', 'web', '--cert', cert, '--key', key)
  await node.kubectl(
    'create',
    'ingress',
    'web',
    '--rule=a.example/*=web:http,tls=web',
    '--rule=b.example/index.html=web:80',
  )
  const get = async (url: string, host: string) =>
    (await lab.runInside([process.execPath, '-e', GET, url, host])).stdout.trim()
  for (
    let tries = 0;
    !(await get('https://127.0.0.1:443/', 'a.example')).startsWith('200 nobody.test web-');
    tries += 1
  ) {
    assert.ok(tries < 50, await get('https://127.0.0.1:443/', 'a.example'))
    await sleep(100)
  }
  assert.match(await get('http://127.0.0.1:8480/', 'a.example'), /^200 {2}web-/)
  assert.match(await get('http://127.0.0.1:8480/index.html', 'b.example'), /^200 {2}web-/)
  assert.match(await get('http://127.0.0.1:8480/', 'b.example'), /^404 /)
  const described = await node.kubectl('describe', 'ingress', 'web')
  assert.match(described, /Address: +\d+\.\d+\.\d+\.\d+\nIngress Class: +deckhand\n/)
  assert.match(described, /web terminates a\.example/)
  assert.match(described, /\/ +web:http \(10\.[\d.]+:8080,10\.[\d.]+:8080\)/)
  assert.match(described, /Normal +Sync .* Served at [\d.]+, port 8480 and 443/)
  assert.match((await node.deckhand('status')).stdout, /^ingress {4}HTTP on port 8480, HTTPS on port 443$/m)
  assert.match(await node.kubectl('get', 'ingress', 'web'), /^web +deckhand +a\.example,b\.example +\d[\d.]+ +80, 443/m)
}

/** Pods have an address of each family, and a service of IPv6 is found and reached as any other; policies judge both. */
async function checkBothFamilies(lab: Lab, node: WorkloadNode): Promise<void> {
  const pods = await node.kubectl('get', 'pods', '-l', 'app=web', '-o', 'jsonpath={.items[*].status.podIPs[*].ip}')
  assert.match(pods, /^10\.\S+ fd64:\S+ 10\.\S+ fd64:\S+$/)
  await node.kubectl('apply', '-f', await node.write('six.yaml', SIX))
  const address = await node.kubectl('get', 'service', 'six', '-o', 'jsonpath={.spec.clusterIP}')
  assert.match(address, /^fd64:/)
  const { stdout, stderr } = await lab.runInside([process.execPath, '-e', FETCH, `http://[${address}]/`])
  assert.match(stdout, /^web-/, stderr)
  const asked = ['exec', 'deployment/client', '--', 'wget', '-q', '-T', '2', '-O', '-', 'http://six/']
  assert.match(await node.kubectl(...asked), /^web-/)
}

/** A pod asks the service that it serves itself, often enough that it is its own answer more than once. */
async function checkOwnService(node: WorkloadNode, name: string): Promise<void> {
  const address = await node.kubectl('get', 'service', name, '-o', 'jsonpath={.spec.clusterIP}')
  const script = `for _ in $(seq 12); do wget -q -T 2 -O - http://${address}/ || exit 1; done`
  const { stdout, stderr } = await node.tryKubectl('exec', `deployment/${name}`, '--', 'sh', '-c', script)
  assert.match(stdout, new RegExp(`^(${name}-\\S+\n){12}$`), stderr)
}

/** While there is a policy, a pod that it allows loses nothing: a packet that is dropped comes again only after the time that wget waits. */
async function checkFirstPackets(node: WorkloadNode, address: string): Promise<void> {
  const command = ['wget', '-q', '-T', '1', '-O', '-', `http://${address}/`]
  for (const name of ['early-1', 'early-2', 'early-3']) {
    const image = ['--image=deckhand.local/busybox:1', '--image-pull-policy=Never', '--restart=Never']
    await node.kubectl('run', name, ...image, '--labels=friend=yes', '--', ...command)
    await node.kubectl('wait', `pod/${name}`, '--for=jsonpath={.status.phase}=Succeeded', '--timeout=25s')
    assert.match(await node.kubectl('logs', name), /^web-/)
  }
}

describe('services of a standalone node', () => {
  test('pods find each other and the API by name; without pods a service refuses; down takes the rules along', async () => {
    await using lab = await startLab()
    const node = new WorkloadNode(lab)
    // The network of pods on Docker has the families that Docker gives it.
    const families = lab.runtime.name === 'docker' ? [] : ['--ip-families', 'IPv4,IPv6']
    await node.up('--ingress-http-port', '8480', '--ingress-https-port', '443', ...families)
    await node.kubectl('apply', '-f', await node.write('services.yaml', OBJECTS))
    for (const name of ['web', 'lone', 'client'])
      await node.kubectl('rollout', 'status', `deployment/${name}`, '--timeout=25s')
    const inClient = (...argv: readonly string[]) => node.tryKubectl('exec', 'deployment/client', '--', ...argv)
    const until = async (what: string, argv: readonly string[], holds: (text: string) => boolean) => {
      for (let tries = 0; ; tries += 1) {
        const { stdout, stderr } = await inClient(...argv)
        if (holds(stdout + stderr)) return stdout
        assert.ok(tries < 50, `${what}: ${stdout}${stderr}`)
        await sleep(100)
      }
    }
    // By the short name, with the search path of its namespace, and with all that busybox starts programs by.
    const wget = 'wget -q -T 2 -O - http://web/'
    const ways = [
      wget.split(' '),
      ['busybox', ...wget.split(' ')],
      ['sh', '-c', wget],
      ['sh', '-c', `true; busybox ${wget}`],
    ]
    for (const argv of [...ways, ['sh', '-c', `echo http://web/ | xargs ${wget.replace(' http://web/', '')}`]]) {
      await until(argv.join(' '), argv, (text) => text.startsWith('web-'))
    }
    await until('ping', ['ping', '-c', '1', '-W', '1', 'web'], (text) => text.startsWith('PING web ('))
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
    for (const name of ['web', 'lone']) await checkOwnService(node, name)
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
    const policy = await node.write('policy.yaml', POLICY)
    if (lab.runtime.name === 'docker') {
      // The network of the pods is Docker's own.
      const { exitCode, stderr } = await node.tryKubectl('apply', '-f', policy)
      assert.match(`${exitCode} ${stderr}`, /^1 .*belongs to another runtime .*, so this node cannot enforce it/)
    } else {
      await node.kubectl('apply', '-f', policy)
      assert.match(await node.kubectl('describe', 'networkpolicy', 'web'), /PodSelector: friend=yes/)
      const ask = ['wget', '-q', '-T', '1', '-O', '-', 'http://web/']
      await until('denied', ask, (text) => /timed out|exit code 143/.test(text))
      const nodeAsks = await lab.runInside([process.execPath, '-e', FETCH, `http://${await addressOf('web')}/`])
      assert.match(nodeAsks.stdout, /^web-/, nodeAsks.stderr)
      const client = (await node.kubectl('get', 'pods', '-l', 'app=client', '-o', 'name')).trim()
      await node.kubectl('label', client, 'friend=yes')
      await until('allowed', ask, (text) => text.startsWith('web-'))
      await checkFirstPackets(node, await addressOf('web'))
      await checkBothFamilies(lab, node)
    }
    await checkIngress(lab, node)
    await node.kubectl('scale', 'deployment/web', '--replicas=0')
    await until('refused', ['wget', '-q', '-T', '2', '-O', '-', 'http://web/'], (text) => /refused/.test(text))
    await node.down()
    const { stdout: tables } = await lab.runInside(['nft', 'list', 'tables'])
    assert.doesNotMatch(tables, /deckhand/)
    const { stdout: devices } = await lab.runInside(['ip', '-o', 'link'])
    assert.doesNotMatch(devices, /dhs-/)
  })
})
