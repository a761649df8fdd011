import assert from 'node:assert/strict'
import { once } from 'node:events'
import { lstat, readdir } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { after, before, describe, test } from 'node:test'
import { connect } from 'node:tls'
import type { Pod } from '../../../src/model/pod/pod.ts'
import { StandaloneNode } from '../support/standalone-node.ts'
import { testContainer, testPod } from '../support/test-pod.ts'

const WORLD_READABLE = 0o004
const WORLD_WRITABLE = 0o002
const WORLD_REACHABLE = 0o001
const SAYS_KEY = 'echo key $KEY; while :; do sleep 1000 & wait $!; done'
const PATHS = ['/', '/pods', '/why', '/metrics', '/configz', '/logs/', '/stats/summary', '/api/v1/pods']

/** What a user of the machine who is not root can get out of a standalone node. */
describe('other users of the machine', () => {
  let node: StandaloneNode
  before(async () => {
    node = await StandaloneNode.start()
    await node.apply(testPod('plain'))
    await node.ready('plain')
  })
  after(async () => await node[Symbol.asyncDispose]())

  test('can read nothing of the node but where it runs, and write nothing', async () => {
    assert.deepEqual(await openFiles(node.state, ''), ['kubelet.pid', 'node.json', 'up.pid'])
    const modes = ['kubelet.yaml', 'kubelet.kubeconfig', 'admin.kubeconfig', 'api/objects/objects.db', 'logs/pods']
    assert.deepEqual(
      await Promise.all(modes.map(async (path) => ((await lstat(`${node.state}/${path}`)).mode & 0o777).toString(8))),
      ['600', '600', '600', '600', '750'],
    )
  })

  test('get an answer without a credential from the health port alone', async () => {
    const { stdout } = await node.lab.runInside(['ss', '-ltnH'])
    const ports = stdout.split('\n').flatMap((line) => /:(\d+) /.exec(line)?.[1] ?? [])
    assert.ok(ports.includes('10248') && ports.includes('10250') && !ports.includes('10255'), stdout)
    assert.deepEqual(await node.lab.network.get('http://127.0.0.1:10248/healthz'), { status: 200, body: 'ok' })
    for (const path of PATHS) {
      const { status } = await node.lab.network.get(`http://127.0.0.1:10248${path}`)
      assert.deepEqual([path, status], [path, 404])
      for (const port of [10_250, 6443])
        assert.deepEqual([path, port, await askSecurely(port, path)], [path, port, 401])
    }
  })

  test('are not answered by the agent on its socket, as root is', async () => {
    const socket = `${node.state}/kubelet/deckhand/agent.sock`
    assert.equal((await lstat(socket)).mode & 0o777, 0o600)
    const { exitCode, stdout } = await node.deckhand('why', 'plain')
    assert.deepEqual([exitCode, stdout.split('\n')[0]], [0, 'default/plain: Runs and is ready'])
  })

  test('and neighbours on the network cannot reach loopback, also where routes to it are allowed', async () => {
    const rules = await node.lab.runInside(['iptables', '-S', 'KUBE-FIREWALL'])
    assert.match(rules.stdout, /! -s 127\.0\.0\.0\/8 -d 127\.0\.0\.0\/8 .* -j DROP/)
  })

  test('that have stolen the credential of the node read no secret by a mirror pod, as a static pod does', async () => {
    const secret = (name: string) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name },
      stringData: { key: name },
    })
    await node.apply(secret('own'), secret('foreign'))
    const using = (name: string) => ({ containers: [testContainer('main', SAYS_KEY, { env: [keyOf(name)] })] })
    await node.writeManifest('user', testPod('user', using('own')))
    const { metadata } = await node.node()
    const mirror = `user-${metadata?.name}`
    const { metadata: made, spec } = await node.ready(mirror)
    assert.equal((await node.logLines(await staticPod(mirror)))[0], 'key own')

    const { name: _, uid: __, resourceVersion: ___, ...copied } = made
    const forged = { apiVersion: 'v1', kind: 'Pod', metadata: copied, spec: { ...spec, ...using('foreign') } }
    const asNode = ['kubectl', '--kubeconfig', `${node.state}/kubelet.kubeconfig`]
    for (const name of [mirror, 'forged']) {
      const stdin = JSON.stringify({ ...forged, metadata: { ...copied, name } })
      const path = '/api/v1/namespaces/default/pods'
      const { stderr } = await node.lab.runInside([...asNode, 'create', '--raw', path, '-f', '-'], { stdin })
      assert.match(stderr, /may not create a mirror pod with "spec.containers\[0\].env\[0\].valueFrom.secretKeyRef"/)
    }
    const read = async (name: string) =>
      (await node.lab.runInside([...asNode, 'get', 'secret', name, '-o', 'name'])).exitCode
    assert.deepEqual([await read('own'), await read('foreign')], [0, 1])
  })

  async function staticPod(name: string): Promise<Pod> {
    const found = (await node.agentPods()).find(({ metadata }) => metadata.name === name)
    assert.ok(found !== undefined)
    return found
  }

  async function askSecurely(port: number, path: string): Promise<number | undefined> {
    const agent = new Agent()
    agent.createConnection = () =>
      connect({ socket: node.lab.network.connect('127.0.0.1', port), rejectUnauthorized: false })
    const asked = request({ host: '127.0.0.1', port, path, agent })
    asked.end()
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    response.destroy()
    return response.statusCode
  }
})

function keyOf(name: string) {
  return { name: 'KEY', valueFrom: { secretKeyRef: { name, key: 'key' } } }
}

/** The files below a folder that every user can read or write, as far as every user can reach them. */
async function openFiles(root: string, folder: string): Promise<readonly string[]> {
  const found: string[] = []
  for (const entry of await readdir(`${root}/${folder}`, { withFileTypes: true })) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    const { mode } = await lstat(`${root}/${path}`)
    if (entry.isDirectory() && (mode & WORLD_REACHABLE) !== 0) found.push(...(await openFiles(root, path)))
    const bits = entry.isDirectory() ? WORLD_WRITABLE : WORLD_READABLE | WORLD_WRITABLE
    if (!entry.isSymbolicLink() && (mode & bits) !== 0) found.push(path)
  }
  return found
}
