import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { startApiServer } from '../../component/api-server/start-secured-api.ts'
import type { SecuredApi } from '../../component/api-server/start-secured-api.ts'
import { Kubectl } from './kubectl.ts'

const folder = mkdtempSync(join(tmpdir(), 'deckhand-kubectl-apply-'))
const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: main
        image: registry.example/web:1
        env: [{name: A, value: "1"}]
`
const WITHOUT_ENV = DEPLOYMENT.replace(/ +env: .*\n/, '')
const OWNERS = '{.metadata.managedFields[*].manager}'
const map = (name: string) => `apiVersion: v1
kind: ConfigMap
metadata: {name: ${name}, labels: {app: set}}
---
`

let api: SecuredApi
let kubectl: Kubectl
/** Debian's kubectl is from 2020: it knows server-side apply, but not how to move to it, and other kinds to prune. */
let minor = 0

before(async () => {
  api = await startApiServer(folder)
  kubectl = new Kubectl(join(folder, 'admin.kubeconfig'), folder)
  const { stdout } = await kubectl.run(['version', '--client', '-o', 'json'])
  minor = Number.parseInt((JSON.parse(stdout) as { clientVersion: { minor: string } }).clientVersion.minor)
})
after(async () => {
  await api.stop()
  rmSync(folder, { recursive: true })
})

async function run(command: string, input = '', env: Record<string, string> = {}): Promise<string> {
  const { code, stdout, stderr } = await kubectl.run(command.split(' '), { input, env })
  assert.equal(code, 0, `kubectl ${command}\n${stdout}${stderr}`)
  return stdout
}

const image = '{.spec.template.spec.containers[0].image}'

describe('kubectl apply --server-side', () => {
  test('makes and changes', async () => {
    assert.equal(await run('apply --server-side -f -', map('plain')), 'configmap/plain serverside-applied\n')
    assert.equal(await run(`get cm plain -o jsonpath=${OWNERS}`), 'kubectl')
    assert.equal(await run('apply --server-side -f -', map('plain')), 'configmap/plain serverside-applied\n')
  })

  test('takes over what was applied from the client, and then prunes', async () => {
    assert.equal(await run('apply -f -', DEPLOYMENT), 'deployment.apps/web created\n')
    await run('apply --server-side -f -', DEPLOYMENT)
    if (minor >= 26) {
      const owners = await run(`get deploy web -o jsonpath=${OWNERS}`)
      assert.deepEqual(owners.split(' ').toSorted(), ['kubectl', 'kubectl-last-applied'])
    }
    await run('apply --server-side --force-conflicts -f -', WITHOUT_ENV)
    const env = await run('get deploy web -o jsonpath={.spec.template.spec.containers[0].env}')
    // An old one stays a second owner of it.
    if (minor >= 26) assert.equal(env, '')
  })

  test('shows the difference, and changes nothing by that', async () => {
    const same = await kubectl.run(['diff', '--server-side', '-f', '-'], { input: WITHOUT_ENV })
    assert.deepEqual([same.code, same.stdout], [0, ''])
    const changed = WITHOUT_ENV.replace('web:1', 'web:2')
    const { code, stdout } = await kubectl.run(['diff', '--server-side', '-f', '-'], { input: changed })
    assert.equal(code, 1, stdout)
    assert.match(stdout, /^-.*image: registry\.example\/web:1$[^]*^\+.*image: registry\.example\/web:2$/m)
    assert.match(await run('apply --server-side --dry-run=server -f -', changed), /server(?:side-applied| dry run)/)
    assert.equal(await run(`get deploy web -o jsonpath=${image}`), 'registry.example/web:1')
    const fresh = await kubectl.run(['diff', '--server-side', '-f', '-'], { input: map('fresh') })
    assert.equal(fresh.code, 1)
    assert.match(fresh.stdout, /^\+kind: ConfigMap$/m)
  })

  test('has a conflict with who scales, unless it is forced', async () => {
    await run('scale deploy web --replicas=3')
    const { code, stderr } = await kubectl.run(['apply', '--server-side', '-f', '-'], { input: WITHOUT_ENV })
    assert.equal(code, 1)
    assert.match(stderr, /Apply failed with 1 conflict: conflict with "[^"]+" with subresource "scale" using apps\/v1/)
    assert.match(stderr, /\.spec\.replicas/)
    await run('apply --server-side --force-conflicts -f -', WITHOUT_ENV)
    assert.equal(await run('get deploy web -o jsonpath={.spec.replicas}'), '1')
  })

  test('shares a field with another manager', async () => {
    const mine = 'apply --server-side --field-manager=mine -f -'
    const shared = WITHOUT_ENV.replace(/ +replicas: .*\n/, '')
    await run(mine, shared)
    assert.match((await kubectl.run(mine.split(' '), { input: shared.replace('web:1', 'web:9') })).stderr, /conflict/)
  })
})

describe('kubectl apply --prune', () => {
  test('removes what is no longer in the files', async () => {
    await run('apply -f -', map('a') + map('b'))
    // The list of kinds of an old one has some that no API serves any more.
    const allowed = minor >= 26 ? '' : ' --prune-whitelist=core/v1/ConfigMap'
    const output = await run(`apply --prune -l app=set${allowed} -f -`, map('a'))
    assert.equal(output, 'configmap/a unchanged\nconfigmap/b pruned\n')
    assert.equal(await run('get cm a -o name'), 'configmap/a\n')
  })

  test('by a set of applied objects', async (t) => {
    if (minor < 27) return t.skip('this kubectl has no sets')
    const env = { KUBECTL_APPLYSET: 'true' }
    for (const parent of ['secrets/one', 'configmaps/two']) {
      const apply = `apply -n default --server-side --prune --applyset=${parent} -f -`
      await run(apply, map('c').replace('app: set', 'in: set') + map('d').replace('app: set', 'in: set'), env)
      const output = await run(apply, map('c').replace('app: set', 'in: set'), env)
      assert.equal(output, 'configmap/c serverside-applied\nconfigmap/d pruned\n')
      const kinds = String.raw`{.metadata.annotations.applyset\.kubernetes\.io/contains-group-kinds}`
      assert.equal(await run(`get ${parent} -o jsonpath=${kinds}`), 'ConfigMap')
      await run('delete cm c')
    }
  })

  test('kinds that nothing acts on are empty, and none is taken', async () => {
    assert.equal(await run('get rc,ing -o name'), '')
    const rc = '{"apiVersion":"v1","kind":"ReplicationController","metadata":{"name":"x"},"spec":{}}'
    const { stderr } = await kubectl.run(['create', '--validate=false', '-f', '-'], { input: rc })
    assert.match(stderr, /is forbidden: nothing on this node acts on it; a Deployment or a ReplicaSet does the same/)
  })
})

test('kubectl explain describes every field of a pod', async () => {
  const output = await run('explain pod.spec.containers.livenessProbe')
  assert.match(output, /periodSeconds\s+<integer>\s+How often it is made; every 10 seconds if not given\./)
  assert.match(await run('explain pod.spec.volumes.emptyDir.medium'), /Memory for a tmpfs/)
  assert.match(await run('explain pod.spec.securityContext.fsGroup'), /Group that owns the files of volumes/)
  if (minor >= 26) assert.doesNotMatch(await run('explain pod.spec.containers'), /<no description>/)
})
