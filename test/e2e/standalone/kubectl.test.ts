import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { startFakeKubelet } from '../../component/api-server/fake-kubelet.ts'
import { startApiServer } from '../../component/api-server/start-secured-api.ts'
import type { SecuredApi } from '../../component/api-server/start-secured-api.ts'
import { Kubectl } from './kubectl.ts'
import type { KubectlResult } from './kubectl.ts'

const folder = mkdtempSync(join(tmpdir(), 'deckhand-kubectl-'))
const POD = `apiVersion: v1
kind: Pod
metadata:
  name: web
  labels: {app: web}
spec:
  containers:
  - name: main
    image: registry.example/web:1
    ports: [{containerPort: 80}]
    resources: {limits: {cpu: '1', memory: 64Mi}}
`
const RUNNING = {
  status: {
    phase: 'Running',
    podIP: '10.1.2.3',
    podIPs: [{ ip: '10.1.2.3' }],
    conditions: [{ type: 'Ready', status: 'True' }],
    containerStatuses: [
      {
        name: 'main',
        ready: true,
        started: true,
        restartCount: 2,
        image: 'registry.example/web:1',
        imageID: 'sha256:1',
        containerID: 'containerd://1',
        state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
      },
    ],
  },
}

let api: SecuredApi
let kubectl: Kubectl
/** The second part of the version of kubectl: Debian's is from 2020 and lacks some commands. */
let minor = 0

before(async () => {
  api = await startApiServer(folder)
  kubectl = new Kubectl(join(folder, 'admin.kubeconfig'), folder)
  const { clientVersion } = JSON.parse((await kubectl.run(['version', '--client', '-o', 'json'])).stdout) as {
    clientVersion: { minor: string }
  }
  minor = Number.parseInt(clientVersion.minor)
})
after(async () => {
  await api.stop()
  rmSync(folder, { recursive: true })
})

/** Runs kubectl, which must succeed; gives what it wrote, with ages as "AGE" and ends of made up names as "xxxxx". */
async function run(command: string, options: { input?: string; env?: Record<string, string> } = {}): Promise<string> {
  const { code, stdout, stderr } = await kubectl.run(split(command), options)
  assert.equal(code, 0, `kubectl ${command}\n${stdout}${stderr}`)
  return masked(stdout)
}

/** Runs kubectl, which must fail. */
async function runFailing(command: string, input = ''): Promise<KubectlResult> {
  const result = await kubectl.run(split(command), { input })
  assert.notEqual(result.code, 0, `kubectl ${command}\n${result.stdout}`)
  return result
}

/** Words, of which those in quotes may have spaces. */
function split(command: string): readonly string[] {
  return [...command.matchAll(/'([^']*)'|\S+/g)].map(([word, quoted]) => quoted ?? word)
}

function masked(output: string): string {
  return output
    .replaceAll(/\b\d+(?:s|m\d*s?|h)\b(?: +ago)?/g, 'AGE')
    .replaceAll(/kube-api-access-\w{5}/g, 'kube-api-access-xxxxx')
    .replaceAll(/ +$/gm, '')
}

/** Columns, however wide they are. */
function rows(output: string): readonly (readonly string[])[] {
  return output
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/ {2,}/))
}

async function createToken(): Promise<string> {
  if (minor >= 24) return (await run('create token bot -n shop --duration=20m')).trim()
  const input = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} })
  const answer = await run('create --raw /api/v1/namespaces/shop/serviceaccounts/bot/token -f -', { input })
  return (JSON.parse(answer) as { status: { token: string } }).status.token
}

async function setStatus(name: string, status: object = RUNNING): Promise<void> {
  const secrets = { ...api.admin, headers: { 'content-type': 'application/strategic-merge-patch+json' } }
  const path = `/api/v1/namespaces/default/pods/${name}/status`
  assert.equal((await api.call(secrets, 'PATCH', path, status)).status, 200)
}

describe('kubectl', () => {
  test('finds out what there is', async () => {
    const resources = await run('api-resources --no-headers -o name')
    for (const name of ['pods', 'nodes', 'leases.coordination.k8s.io', 'nodes.metrics.k8s.io']) {
      assert.ok(resources.split('\n').includes(name), `${name}\n${resources}`)
    }
    assert.match(await run('api-resources --api-group=scheduling.k8s.io'), /^priorityclasses +pc .* PriorityClass$/m)
    assert.deepEqual((await run('api-versions')).trim().split('\n'), [
      'apiextensions.k8s.io/v1',
      'apps/v1',
      'authentication.k8s.io/v1',
      'authorization.k8s.io/v1',
      'autoscaling/v1',
      'autoscaling/v2',
      'batch/v1',
      'certificates.k8s.io/v1',
      'certificates.k8s.io/v1beta1',
      'coordination.k8s.io/v1',
      'discovery.k8s.io/v1',
      'events.k8s.io/v1',
      'metrics.k8s.io/v1beta1',
      'networking.k8s.io/v1',
      'node.k8s.io/v1',
      'policy/v1',
      'rbac.authorization.k8s.io/v1',
      'resource.k8s.io/v1',
      'scheduling.k8s.io/v1',
      'storage.k8s.io/v1',
      'v1',
    ])
    assert.match(await run('version -o yaml'), /serverVersion:[^]*gitVersion: v1\.36\.4/)
    assert.match(await run('cluster-info'), /is running at/)
  })

  test('explains fields', async () => {
    const pod = await run('explain pod')
    assert.match(pod, /KIND: +Pod[^]*VERSION: +v1[^]*DESCRIPTION:[^]*FIELDS:[^]*spec\t<(?:PodSpec|Object)>/)
    assert.match(await run('explain pod.spec.restartPolicy'), /<string>[^]*Always, OnFailure or Never/)
    assert.match(await run('explain leases.spec --recursive'), /leaseDurationSeconds\t<integer>/)
    assert.equal((await runFailing('explain pod.spec.nothing')).stderr, 'error: field "nothing" does not exist\n')
  })

  test('applies, and applies again', async () => {
    assert.equal(await run('apply -f -', { input: POD }), 'pod/web created\n')
    assert.equal(await run('apply -f -', { input: POD }), 'pod/web unchanged\n')
    const labelled = POD.replace('{app: web}', '{app: web, tier: front}')
    assert.equal(await run('apply -f -', { input: labelled }), 'pod/web configured\n')
    assert.equal(await run('get pod web -o jsonpath={.metadata.labels.tier}'), 'front')
    assert.equal(await run('apply -f -', { input: POD }), 'pod/web configured\n')
    assert.equal(await run('get pod web -o jsonpath={.metadata.labels.tier}'), '')
  })

  test('gets an error that says what is wrong with an object', async () => {
    const misspelt = POD.replace('image:', 'imgae:')
    assert.match((await runFailing('apply -f -', misspelt)).stderr, /unknown field "(?:spec\.containers\[0\]\.)?imgae"/)
    const { code, stderr } = await runFailing('create -f -', POD.replaceAll(/web\b/g, 'Web'))
    assert.equal(code, 1)
    assert.match(stderr, /The Pod "Web" is invalid: .*metadata\.name: Invalid value: "Web"/)
    assert.equal(
      (await runFailing('create -f -', POD)).stderr,
      'Error from server (AlreadyExists): error when creating "STDIN": pods "web" already exists\n',
    )
    const immutable = POD.replace('containerPort: 80', 'containerPort: 81')
    assert.match(
      (await runFailing('apply -f -', immutable)).stderr,
      /is invalid: spec: Forbidden: only these fields of a pod may change/,
    )
    assert.equal(
      (await runFailing('get pod nothing')).stderr,
      'Error from server (NotFound): pods "nothing" not found\n',
    )
    assert.match((await runFailing('get nothings')).stderr, /the server doesn't have a resource type "nothings"/)
  })

  test('gets objects in every form', async () => {
    assert.deepEqual(rows(await run('get pods')), [
      ['NAME', 'READY', 'STATUS', 'RESTARTS', 'AGE'],
      ['web', '0/1', 'Pending', '0', 'AGE'],
    ])
    await setStatus('web')
    assert.deepEqual(rows(await run('get pods -o wide')), [
      ['NAME', 'READY', 'STATUS', 'RESTARTS', 'AGE', 'IP', 'NODE', 'NOMINATED NODE', 'READINESS GATES'],
      ['web', '1/1', 'Running', '2', 'AGE', '10.1.2.3', 'node-1', '<none>', '<none>'],
    ])
    assert.match(await run('get pod web -o yaml'), /^apiVersion: v1\nkind: Pod\nmetadata:\n[^]*^ {2}phase: Running$/m)
    const list = JSON.parse(await run('get pods -o json')) as { kind: string; items: { metadata: { name: string } }[] }
    assert.deepEqual([list.kind, list.items.map(({ metadata }) => metadata.name)], ['List', ['web']])
    assert.equal(await run("get pods -o 'jsonpath={.items[*].status.podIP}'"), '10.1.2.3')
    assert.equal(await run('get pods -o name -l app=web'), 'pod/web\n')
    assert.equal(await run('get pods -o name -l app!=web'), '')
    assert.equal(await run('get pods -A --field-selector status.phase=Running -o name'), 'pod/web\n')
    assert.deepEqual(rows(await run('get ns --no-headers --sort-by=.metadata.name')), [
      ['default', 'Active', 'AGE'],
      ['kube-node-lease', 'Active', 'AGE'],
      ['kube-public', 'Active', 'AGE'],
      ['kube-system', 'Active', 'AGE'],
    ])
    assert.deepEqual(rows(await run('get svc')), [
      ['NAME', 'TYPE', 'CLUSTER-IP', 'EXTERNAL-IP', 'PORT(S)', 'AGE'],
      ['kubernetes', 'ClusterIP', '10.96.0.1', '<none>', '443/TCP', 'AGE'],
    ])
    assert.match(await run('get all -A'), /pod\/web[^]*service\/kubernetes/)
    assert.match(await run('get cm,sa -n kube-system'), /configmap\/kube-root-ca\.crt[^]*serviceaccount\/default/)
  })

  test('describes', async () => {
    const text = await run('describe pod web')
    assert.match(text, /^Name: +web$[^]*^Node: +node-1\/[^]*^IP: +10\.1\.2\.3$[^]*^ {4}Restart Count: +2$/m)
    assert.match(text, /from kube-api-access-xxxxx \(ro\)[^]*^QoS Class: +(?:Guaranteed|Burstable)$/m)
    assert.match(text, /node\.kubernetes\.io\/not-ready:NoExecute op=Exists for AGE/)
    assert.match(await run('describe ns default'), /^Status: +Active$/m)
  })

  test('labels and annotates', async () => {
    assert.equal(await run('label pod web tier=front'), 'pod/web labeled\n')
    assert.match(
      (await runFailing('label pod web tier=back')).stderr,
      /already has a value \(front\)|--overwrite is false/,
    )
    assert.equal(await run('label pod web tier=back --overwrite'), 'pod/web labeled\n')
    assert.match(await run('label pod web tier-'), /^pod\/web (?:unlabeled|labeled)\n$/)
    assert.equal(await run("annotate pod web 'note=a b'"), 'pod/web annotated\n')
    assert.equal(await run('get pod web -o jsonpath={.metadata.annotations.note}/{.metadata.labels.tier}'), 'a b/')
  })

  test('patches in three ways', async () => {
    const patches = [
      ['strategic', '{"spec":{"containers":[{"name":"main","image":"registry.example/web:2"}]}}'],
      ['merge', '{"metadata":{"labels":{"b":"2"}}}'],
      ['json', '[{"op":"add","path":"/metadata/labels/c","value":"3"}]'],
    ]
    for (const [type, patch] of patches) {
      assert.equal(await run(`patch pod web --type=${type} -p '${patch}'`), 'pod/web patched\n')
    }
    const path = '{.spec.containers[*].image} {.metadata.labels.b} {.metadata.labels.c}'
    assert.equal(await run(`get pod web -o 'jsonpath=${path}'`), 'registry.example/web:2 2 3')
    assert.match(
      (await runFailing(`patch pod web --type=json -p '[{"op":"test","path":"/a","value":1}]'`)).stderr,
      /^The request is invalid/,
    )
  })

  test('edits with an editor', async () => {
    const editor = join(folder, 'editor')
    writeFileSync(editor, '#!/bin/sh\nsed -i "s#registry.example/web:2#registry.example/web:3#" "$1"\n')
    chmodSync(editor, 0o755)
    assert.equal(await run('edit pod web', { env: { EDITOR: editor } }), 'pod/web edited\n')
    assert.equal(await run('get pod web -o jsonpath={.spec.containers[0].image}'), 'registry.example/web:3')
    assert.equal(await run('edit pod web', { env: { EDITOR: 'true' } }), '')
  })

  test('shows differences, and runs dry', async () => {
    const changed = POD.replace('web:1', 'web:9')
    const { code, stdout } = await kubectl.run(['diff', '-f', '-'], { input: changed })
    assert.equal(code, 1, stdout)
    const lines = stdout.split('\n').filter((line) => /^[+-] /.test(line))
    assert.deepEqual(
      lines.map((line) => line.replaceAll(/ +/g, ' ')).filter((line) => !/generation|labels|[+-] [bc]: /.test(line)),
      ['- - image: registry.example/web:3', '+ - image: registry.example/web:9'],
    )
    assert.equal(await run('apply -f - --dry-run=server', { input: changed }), 'pod/web configured (server dry run)\n')
    assert.equal(await run('get pod web -o jsonpath={.spec.containers[0].image}'), 'registry.example/web:3')
    assert.deepEqual(await kubectl.run(['diff', '-f', '-'], { input: POD.replace('web:1', 'web:3') }), {
      code: 0,
      stdout: '',
      stderr: '',
    })
  })

  test('watches', async () => {
    await using watch = kubectl.start(['get', 'cm', '-w', '-o', 'name'])
    await watch.output(/kube-root-ca/)
    assert.equal(await run('create configmap settings --from-literal=a=b'), 'configmap/settings created\n')
    assert.match(await watch.output(/settings/), /^configmap\/kube-root-ca\.crt\nconfigmap\/settings\n$/)
  })

  test('creates what has commands of its own', async () => {
    assert.equal(await run('create secret generic password --from-literal=p=secret'), 'secret/password created\n')
    assert.equal(await run('get secret password -o jsonpath={.data.p}'), Buffer.from('secret').toString('base64'))
    assert.equal(await run('create namespace shop'), 'namespace/shop created\n')
    assert.equal(await run('create serviceaccount bot -n shop'), 'serviceaccount/bot created\n')
    assert.equal(await run('create service clusterip front --tcp=80:8080 -n shop'), 'service/front created\n')
    assert.match(
      await run('get svc front -n shop --no-headers'),
      /^front +ClusterIP +10\.\d+\.\d+\.\d+ +<none> +80\/TCP/,
    )
    assert.equal(await run('run job --image=registry.example/job --restart=Never -n shop'), 'pod/job created\n')
  })

  test('knows who it is and what it may do', async () => {
    assert.equal(await run('auth can-i create pods'), 'yes\n')
    const { code, stdout } = await kubectl.run(['auth', 'can-i', 'get', 'secrets', '--as=jane'])
    assert.deepEqual([code, stdout.slice(0, 2)], [1, 'no'])
    assert.match(await run('auth can-i --list --as=jane'), /selfsubjectaccessreviews\.authorization\.k8s\.io/)
    assert.match(
      (await runFailing('get pods --as=jane')).stderr,
      /^Error from server \(Forbidden\): pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "default"/,
    )
    if (minor >= 27) assert.match(await run('auth whoami'), /kubernetes-admin[^]*system:masters/)
  })

  test('makes tokens that work, and may do nothing', async () => {
    const token = await createToken()
    const { status, body } = await api.call({ token }, 'GET', '/api/v1/namespaces/shop/pods')
    assert.equal(status, 403)
    assert.match(String(body['message']), /User "system:serviceaccount:shop:bot" cannot list resource "pods"/)
  })

  test('waits', async () => {
    assert.equal(await run('wait --for=condition=Ready pod/web --timeout=10s'), 'pod/web condition met\n')
    assert.match(
      (await runFailing('wait --for=condition=Ready pod/job -n shop --timeout=1s')).stderr,
      /timed out waiting/,
    )
    const waiting = kubectl.run(['wait', '--for=delete', 'secret/password', '--timeout=20s'])
    assert.equal(await run('delete secret password'), 'secret "password" deleted\n')
    assert.equal((await waiting).code, 0)
  })

  test('shows events', async () => {
    const uid = await run('get pod web -o jsonpath={.metadata.uid}')
    const event = {
      metadata: { name: 'web.1' },
      involvedObject: { kind: 'Pod', namespace: 'default', name: 'web', uid, apiVersion: 'v1' },
      reason: 'Pulled',
      message: 'it is here',
      type: 'Normal',
      source: { component: 'kubelet' },
      firstTimestamp: new Date().toISOString(),
      lastTimestamp: new Date().toISOString(),
      count: 1,
    }
    assert.equal((await api.call(api.admin, 'POST', '/api/v1/namespaces/default/events', event)).status, 201)
    assert.deepEqual(rows(await run('get events')), [
      ['LAST SEEN', 'TYPE', 'REASON', 'OBJECT', 'MESSAGE'],
      ['AGE', 'Normal', 'Pulled', 'pod/web', 'it is here'],
    ])
    assert.match(await run('describe pod web'), /Events:[^]*Normal +Pulled +AGE +kubelet +it is here/)
    if (minor >= 26) assert.match(await run('events --for pod/web'), /Normal +Pulled +Pod\/web +it is here/)
  })

  test('deletes: with grace, at once, by label, and with all that is inside', async () => {
    assert.equal(await run('delete pod web --wait=false'), 'pod "web" deleted\n')
    assert.match(await run('get pod web --no-headers'), /^web +1\/1 +Terminating/)
    assert.equal(await run('delete pod web --force --grace-period=0'), 'pod "web" force deleted\n')
    assert.match((await runFailing('get pod web')).stderr, /NotFound/)
    assert.equal(await run('delete pod web --ignore-not-found'), '')
    for (const name of ['one', 'two', 'three']) {
      const labels = name === 'three' ? '' : ' -l x=y'
      await run(`run ${name} --image=i${labels}`)
      await setStatus(name, { status: { phase: 'Succeeded' } })
    }
    assert.equal(await run('delete pods -l x=y'), 'pod "one" deleted\npod "two" deleted\n')
    // One that still runs goes when its kubelet says so.
    const deleting = kubectl.run(['delete', 'pod', 'job', '-n', 'shop', '--wait'])
    const job = '/api/v1/namespaces/shop/pods/job'
    const isMarked = async () =>
      'deletionTimestamp' in ((await api.call(api.admin, 'GET', job)).body['metadata'] as object)
    while (!(await isMarked()));
    assert.equal((await api.call(api.admin, 'DELETE', `${job}?gracePeriodSeconds=0`)).status, 200)
    assert.deepEqual(await deleting, { code: 0, stdout: 'pod "job" deleted\n', stderr: '' })
    assert.equal(await run('delete ns shop'), 'namespace "shop" deleted\n')
    assert.match((await runFailing('get svc front -n shop')).stderr, /NotFound/)
    assert.equal(await run('delete pods,cm --all -o name').then((text) => text.includes('pod/three')), true)
  })

  test('reads logs and usage from the kubelet', async (t) => {
    assert.match((await runFailing('top nodes')).stderr, /metrics not available yet/i)
    const { port, asked } = await startFakeKubelet(t, folder, ({ url = '' }, response) => {
      const now = Date.now()
      response.end(url.startsWith('/containerLogs/') ? 'one\ntwo\n' : usageAt(now))
    })
    const addresses = [{ type: 'InternalIP', address: '127.0.0.1' }]
    const allocatable = { cpu: '2', memory: '1Gi' }
    const status = { addresses, allocatable, daemonEndpoints: { kubeletEndpoint: { Port: port } } }
    const node = { metadata: { name: 'node-1' }, status }
    assert.equal((await api.call(api.admin, 'POST', '/api/v1/nodes', node)).status, 201)
    await run('apply -f -', { input: POD })
    assert.equal(await run('logs web --tail=2'), 'one\ntwo\n')
    assert.equal(asked[0]?.path, '/containerLogs/default/web/main?tailLines=2')
    assert.match((await runFailing('logs web -c nothing')).stderr, /container nothing is not valid for pod web/)
    assert.match(await run('get --raw /api/v1/nodes/node-1/proxy/metrics/resource'), /^node_cpu_usage_seconds_total /)
    const top = async (what: string) => (await kubectl.run(['top', what, '--no-headers'])).stdout
    assert.match(await top('nodes'), /^node-1 +(?:49\d|50\d)m +2\d% +10Mi /)
    assert.match(await top('pods'), /^web +(?:9\d|10\d)m +5Mi/)
  })

  test('gets an error for what this API does not do', async () => {
    assert.match((await runFailing('get flowschemas')).stderr, /the server doesn't have a resource type "flowschemas"/)
  })
})

/** What a kubelet reports: half a core of the node, a tenth of one for the pod. */
function usageAt(now: number): string {
  const of = '{container="main",namespace="default",pod="web"}'
  return `node_cpu_usage_seconds_total ${now / 2000} ${now}
node_memory_working_set_bytes 10485760 ${now}
container_cpu_usage_seconds_total${of} ${now / 10_000} ${now}
container_memory_working_set_bytes${of} 5242880 ${now}
`
}
