import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { systemClock } from '../../../src/base/async/clock.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'
import { createEtcdConnector } from '../../../src/pods/sources/etcd/create-etcd-connector.ts'
import { RefusedManifests } from '../../../src/pods/sources/refused-manifests.ts'
import { decodeStaticPods } from '../../../src/pods/sources/decode-static-pod.ts'
import { PodConfigMux } from '../../../src/pods/sources/pod-config-mux.ts'
import { createLastGoodManifests } from '../../../src/system/directories/last-good-manifests.ts'
import { runEtcdSource } from '../../../src/pods/sources/etcd/run-etcd-source.ts'
import { CLIENT_AUTH, createTestCertificate, SERVER_AUTH } from '../../builders/create-test-authority.ts'
import { waitFor } from '../../e2e/support/wait-for.ts'
import { base64, EtcdServer } from '../../fakes/etcd-server.ts'
import { startLossyProxy } from '../../fakes/lossy-proxy.ts'
import { makeTemporaryFolder } from '../../fixtures/make-temporary-folder.ts'

const PREFIX = '/registry/nodes/n/boundpods'
const NO_FLAGS = { etcdCafile: '', etcdCertfile: '', etcdKeyfile: '', etcdUsername: '', etcdPasswordFile: '' }

const pod = (name: string, image = 'a') => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, uid: `u-${name}` },
  spec: { containers: [{ name: 'main', image }] },
})

/** Follows a store; knows the pods that it has now, and every step for each of them. */
function follow(servers: readonly string[], flags: Partial<typeof NO_FLAGS> = {}, options: { pingMs?: number } = {}) {
  const pods = new Map<string, string>()
  const steps = new Map<string, string[]>()
  /** How many pods each step had. */
  const sizes: number[] = []
  const warnings: string[] = []
  let isComplete = false
  const mux = new PodConfigMux({
    sources: ['etcd'],
    clock: systemClock,
    onEvent: () => {},
    onAllSeen: () => void (isComplete = true),
    deliver({ operation, pods: changed }) {
      for (const { metadata, spec } of changed) {
        const name = metadata.name.replace(/-n$/, '')
        steps.set(name, [...(steps.get(name) ?? []), operation])
        if (operation === 'REMOVE') pods.delete(name)
        else pods.set(name, spec.containers[0]?.image ?? '')
      }
      if (changed.length > 0) sizes.push(changed.length)
    },
  })
  const end = new AbortController()
  const running = runEtcdSource(
    {
      servers,
      prefix: PREFIX,
      connect: createEtcdConnector({ ...NO_FLAGS, ...flags }, systemClock, options),
      decode: (bytes, key) =>
        decodeStaticPods(bytes, { kind: 'etcd', key }, { nodeName: 'n', refuseApiReferences: true }),
      clock: systemClock,
      random: () => 0,
      logger: {
        ...silentLogger,
        error: (message) => void warnings.push(message),
        warn: (message, fields) => void warnings.push(`${message} ${String(fields?.['error'] ?? fields?.['key'])}`),
      },
      lastGood: createLastGoodManifests(join(makeTemporaryFolder(), 'good')),
      refused: new RefusedManifests(),
      onRefused: () => {},
      emit: (set) => mux.set('etcd', set),
    },
    end.signal,
  )
  running.catch(() => {})
  return {
    pods,
    steps,
    sizes,
    warnings,
    isComplete: () => isComplete,
    async [Symbol.asyncDispose]() {
      end.abort(new Error('end'))
      await assert.rejects(running, /end/)
    },
  }
}

const until = (isSo: () => boolean) => waitFor('the source', async () => isSo())

const startServer = (options: Partial<Parameters<typeof EtcdServer.start>[0]> = {}) =>
  EtcdServer.start({ folder: join(makeTemporaryFolder(), 'data'), ...options })

describe('pods in a real etcd', () => {
  test('come, change and go with their keys; a key that is not there is an empty set', async () => {
    await using etcd = await startServer()
    await using source = follow([etcd.url])
    await until(() => source.isComplete())
    await etcd.put(`${PREFIX}/a`, pod('a'))
    await etcd.put(PREFIX, { kind: 'BoundPods', apiVersion: 'v1beta1', items: [{ id: 'b', spec: pod('b').spec }] })
    await etcd.put(`/registry/nodes/n1/boundpods/c`, pod('c'))
    await until(() => source.pods.size === 2)
    await etcd.put(`${PREFIX}/a`, pod('a', 'other'))
    await until(() => source.pods.get('a') === 'other')
    await etcd.put(`${PREFIX}/a`, '{')
    await until(() => source.warnings.length === 1)
    assert.deepEqual(Object.fromEntries(source.pods), { a: 'other', b: 'a' })
    await etcd.remove(`${PREFIX}/a`)
    await until(() => !source.pods.has('a'))
  })

  test('are right after 1,000 changes with the server killed and compacted in between; none changed that was not', async () => {
    await using etcd = await startServer()
    await using source = follow([etcd.url])
    const wanted = new Map<string, string>()
    const changes = new Map<string, number>()
    await etcd.put(`${PREFIX}/still`, pod('still'))
    await until(() => source.pods.has('still'))
    let seed = 7
    const chance = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below
    for (let change = 0; change < 1000; change += 1) {
      const name = `p${chance(40)}`
      const isRemoval = chance(4) === 0
      const revision = isRemoval
        ? await etcd.remove(`${PREFIX}/${name}`)
        : await etcd.put(`${PREFIX}/${name}`, pod(name, `v${change}`))
      changes.set(name, (changes.get(name) ?? 0) + 1)
      if (isRemoval) wanted.delete(name)
      else wanted.set(name, `v${change}`)
      if (change % 200 === 150) {
        await etcd.kill()
        await etcd.start()
      }
      if (change % 250 === 200) await etcd.compact(revision)
      // Changes and a compaction that the source can only hear of afterwards.
      if (change === 600) {
        await etcd.kill()
        await etcd.start()
        await etcd.compact(await etcd.put('/elsewhere', 'x'))
      }
    }
    wanted.set('still', 'a')
    await until(() => isSame(source.pods, wanted))
    assert.deepEqual(source.steps.get('still'), ['ADD'])
    for (const [name, steps] of source.steps)
      assert.ok(steps.length <= (changes.get(name) ?? 1), `${name} changed ${changes.get(name)} times: ${steps.join()}`)
  })

  test('are read in pages as of one revision where they are many and large; what changes together comes together', async () => {
    await using etcd = await startServer()
    const large = (name: string, image: string) => {
      const { metadata, ...rest } = pod(name, image)
      return { ...rest, metadata: { ...metadata, annotations: { padding: 'x'.repeat(40_000) } } }
    }
    const names = Array.from({ length: 450 }, (_, index) => `p${index}`)
    // In one revision, as many as a request may have.
    const putAll = async (together: readonly string[], image: string) => {
      const success = together.map((name) => {
        const value = base64(JSON.stringify(large(name, image)))
        return { requestPut: { key: base64(`${PREFIX}/${name}`), value } }
      })
      await etcd.call('kv/txn', { success })
    }
    for (let at = 0; at < names.length; at += 25) await putAll(names.slice(at, at + 25), 'a')
    await using source = follow([etcd.url])
    await until(() => source.isComplete())
    await putAll(names.slice(0, 25), 'b')
    await until(() => source.pods.get('p24') === 'b')
    assert.deepEqual(source.sizes, [names.length, 25])
  })

  test('are followed again after the network has dropped the connection without a word', async () => {
    await using etcd = await startServer({ args: ['--grpc-keepalive-min-time', '100ms'] })
    await using proxy = await startLossyProxy(Number(new URL(etcd.url).port))
    await using source = follow([proxy.url], {}, { pingMs: 300 })
    await etcd.put(`${PREFIX}/a`, pod('a'))
    await until(() => source.pods.has('a'))
    proxy.lose()
    await etcd.put(`${PREFIX}/b`, pod('b'))
    await until(() => source.pods.has('b'))
    assert.equal(proxy.connections(), 2)
    assert.deepEqual(source.steps.get('a'), ['ADD'])
  })

  test('stay while the store is away, and come back from a store that was set up again', async () => {
    const folder = makeTemporaryFolder()
    await using etcd = await startServer({ folder: join(folder, 'one') })
    await using source = follow([etcd.url])
    for (const name of ['a', 'b', 'c']) await etcd.put(`${PREFIX}/${name}`, pod(name))
    await until(() => source.pods.size === 3)
    await etcd.kill()
    await until(() => source.warnings.length > 0)
    assert.equal(source.pods.size, 3)
    mkdirSync(join(folder, 'two'))
    await using other = await EtcdServer.start({ folder: join(folder, 'two') })
    await other.put(`${PREFIX}/b`, pod('b'))
    await using later = follow([etcd.url, other.url])
    await until(() => later.pods.size === 1)
    assert.deepEqual([...later.pods.keys()], ['b'])
  })

  test('stay when the store has lost all its data, until it has a key for the node again', async () => {
    const folder = join(makeTemporaryFolder(), 'data')
    await using etcd = await startServer({ folder })
    await using source = follow([etcd.url])
    for (const name of ['a', 'b']) await etcd.put(`${PREFIX}/${name}`, pod(name))
    await until(() => source.pods.size === 2)
    await etcd.kill()
    rmSync(folder, { recursive: true })
    await etcd.start()
    await until(() => source.warnings.some((warning) => warning.includes('has no pods for this node')))
    assert.deepEqual([...source.pods.keys()], ['a', 'b'])
    await etcd.put(`${PREFIX}/b`, pod('b'))
    await until(() => source.pods.size === 1)
    assert.deepEqual([source.steps.get('a'), source.steps.get('b')], [['ADD', 'REMOVE'], ['ADD']])
    await etcd.remove(`${PREFIX}/b`)
    await until(() => source.pods.size === 0)
  })

  test('are read as the user that the flags name; without rights they stay, with the reason', async () => {
    const folder = makeTemporaryFolder()
    await using etcd = await startServer({ folder: join(folder, 'data') })
    for (const [name, password] of [
      ['root', 'r'],
      ['node', 'secret'],
    ] as const)
      await etcd.call('auth/user/add', { name, password })
    await etcd.call('auth/role/add', { name: 'root' })
    await etcd.call('auth/role/add', { name: 'pods' })
    await etcd.call('auth/role/grant', {
      name: 'pods',
      perm: { permType: 'READ', key: base64(PREFIX), range_end: base64(`${PREFIX}0`) },
    })
    await etcd.call('auth/user/grant', { user: 'root', role: 'root' })
    await etcd.put(`${PREFIX}/a`, pod('a'))
    await etcd.call('auth/enable', {})
    writeFileSync(join(folder, 'password'), 'secret\n')
    await using source = follow([etcd.url], { etcdUsername: 'node', etcdPasswordFile: join(folder, 'password') })
    await until(() => source.warnings.some((warning) => warning.includes('permission denied')))
    assert.equal(source.isComplete(), false)
    await etcd.login('root', 'r')
    await etcd.call('auth/user/grant', { user: 'node', role: 'pods' })
    await until(() => source.pods.has('a'))
    assert.ok(!source.warnings.join().includes('secret'))
  })

  test('are read over TLS with a client certificate; an authority that is not named is not trusted', async () => {
    const folder = makeTemporaryFolder()
    const write = (name: string, text: string) => {
      writeFileSync(join(folder, name), text)
      return join(folder, name)
    }
    const authority = await createTestCertificate({ isAuthority: true, subject: [{ CN: ['authority'] }] })
    const server = await createTestCertificate({ issuer: authority, usages: [SERVER_AUTH, CLIENT_AUTH] })
    const client = await createTestCertificate({ issuer: authority, usages: [CLIENT_AUTH] })
    const ca = write('ca', authority.certificatePem)
    const key = write('key', server.keyPem)
    const args = ['--cert-file', write('server', server.certificatePem), '--key-file', key, '--client-cert-auth']
    await using etcd = await startServer({
      folder: join(folder, 'data'),
      scheme: 'https',
      args: [...args, '--trusted-ca-file', ca],
    })
    const own = { etcdCertfile: write('cert', client.certificatePem), etcdKeyfile: write('own', client.keyPem) }
    const url = etcd.url.replace('127.0.0.1', 'localhost')
    await using stranger = follow([url], own)
    await using source = follow([url], { ...own, etcdCafile: ca })
    await until(() => source.isComplete())
    await until(() => stranger.warnings.length > 0)
    assert.equal(stranger.isComplete(), false)
  })
})

function isSame(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean {
  return one.size === other.size && [...one].every(([name, value]) => other.get(name) === value)
}
