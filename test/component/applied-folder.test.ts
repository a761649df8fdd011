import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../src/base/async/clock.ts'
import { KubeUnreachableError } from '../../src/protocols/kube-api/kube-client.ts'
import { runAppliedFolder } from '../../src/standalone/apply/run-applied-folder.ts'
import { makeTemporaryFolder } from '../fixtures/make-temporary-folder.ts'
import { call } from './api-server/api-client.ts'
import { createTestApi } from './api-server/create-test-api.ts'
import { FakeKubeClient } from './fake-kube-client.ts'

const map = (name: string, value: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {value: "${value}"}\n`
const pod = (image: string) =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {terminationGracePeriodSeconds: 0, containers: [{name: c, image: a, command: [${image}]}]}\n`

async function setUp(t: TestContext) {
  const root = makeTemporaryFolder()
  const folder = `${root}/objects`
  mkdirSync(folder)
  const server = await createTestApi({ folder: `${root}/api` })
  t.after(() => server[Symbol.asyncDispose]())
  const said: string[] = []
  const client = new FakeKubeClient(server.api)
  let stop = new AbortController()
  const start = () => {
    stop = new AbortController()
    const running = runAppliedFolder(
      {
        folder,
        recordFile: `${root}/applied.json`,
        problemsFile: `${root}/problems.json`,
        buildKustomization: async (path) => readFileSync(`${path}/built`, 'utf8'),
        client,
        clock: systemClock,
        random: Math.random,
        say: (line) => void said.push(line),
      },
      stop.signal,
    )
    return running.catch((error: unknown) => {
      if (!stop.signal.aborted) throw error
    })
  }
  let running = start()
  const leave = async () => {
    stop.abort(new Error('leave'))
    await running
  }
  t.after(leave)
  return {
    said,
    recordFile: `${root}/applied.json`,
    problems: () =>
      existsSync(`${root}/problems.json`) ? (JSON.parse(readFileSync(`${root}/problems.json`, 'utf8')) as unknown) : [],
    folder,
    send: (method: string, path: string, body: object) => call(server.api, method, path, { body }),
    client,
    write: (name: string, text: string) => writeFileSync(`${folder}/${name}`, text),
    remove: (name: string) => rmSync(`${folder}/${name}`),
    async restart() {
      await leave()
      running = start()
    },
    leave,
    async value(name: string): Promise<string | undefined> {
      const { status, body } = await call(server.api, 'GET', `/api/v1/namespaces/default/configmaps/${name}`)
      return status === 200 ? (body as { data: { value: string } }).data.value : undefined
    },
    get: (path: string) => call(server.api, 'GET', path),
  }
}

/** Otherwise only the time limit of the test ends it. */
async function until(isDone: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await isDone())) await sleep(5)
}

describe('runAppliedFolder()', () => {
  test('makes, changes and deletes what the files say, also after a restart', async (t) => {
    const node = await setUp(t)
    node.write('a.yaml', `${map('a', '1')}---\n${map('b', '1')}`)
    await until(async () => (await node.value('a')) === '1' && (await node.value('b')) === '1')
    node.write('a.yaml', map('a', '2'))
    await until(async () => (await node.value('a')) === '2' && (await node.value('b')) === undefined)
    await node.leave()
    node.remove('a.yaml')
    await node.restart()
    await until(async () => (await node.value('a')) === undefined)
    assert.deepEqual(node.said, [
      'ConfigMap default/a created',
      'ConfigMap default/b created',
      'ConfigMap default/a configured',
      'ConfigMap default/b deleted',
      'ConfigMap default/a deleted',
    ])
  })

  test('is not held up by bad neighbours, and says once what is wrong with each', async (t) => {
    const node = await setUp(t)
    node.write('bad.yaml', 'apiVersion: v1\nkind: [\n')
    node.write('deployment.yaml', 'apiVersion: apps/v1\nkind: Nothing\nmetadata: {name: d}\n')
    node.write('good.yaml', map('good', '1'))
    node.write('later.yaml', map('good', '2'))
    await until(async () => (await node.value('good')) === '1')
    await until(() => node.said.length === 4)
    node.remove('good.yaml')
    await until(async () => (await node.value('good')) === '2')
    node.remove('later.yaml')
    await until(async () => (await node.value('good')) === undefined)
    assert.equal(node.said.filter((line) => /^Cannot apply ".*bad\.yaml": line \d/.test(line)).length, 1)
    assert.equal(
      node.said.filter((line) =>
        /^Cannot apply Nothing d of ".*\/deployment.yaml": the API has no Nothing in apps\/v1$/.test(line),
      ).length,
      1,
    )
    assert.equal(
      node.said.filter(
        (line) => line === '"later.yaml" has ConfigMap default/good, as "good.yaml" has: the latter counts',
      ).length,
      1,
    )
  })

  test('lists what is wrong with file, line and reason while it is', async (t) => {
    const node = await setUp(t)
    node.write('bad.yaml', 'apiVersion: v1\nkind: [\n')
    node.write('strict.yaml', `${map('fine', '1')}---\n${map('odd', '1')}dat: {}\n`)
    await until(async () => (await node.value('fine')) === '1')
    await until(() => (node.problems() as unknown[]).length === 2)
    assert.deepEqual(node.problems(), [
      {
        file: `${node.folder}/bad.yaml`,
        reason: 'line 3: Flow sequence in block collection must be sufficiently indented and end with a ]',
        hasLastGood: false,
      },
      {
        file: `${node.folder}/strict.yaml`,
        line: 6,
        object: 'ConfigMap default/odd',
        reason: 'strict decoding error: unknown field "dat"',
      },
    ])
    node.remove('bad.yaml')
    node.write('strict.yaml', map('fine', '1'))
    await until(() => (node.problems() as unknown[]).length === 0)
  })

  test('reads sub-folders, and what a kustomization builds in place of the files beside it', async (t) => {
    const node = await setUp(t)
    mkdirSync(`${node.folder}/sub/deep`, { recursive: true })
    node.write('sub/deep/a.yaml', map('deep', '1'))
    await until(async () => (await node.value('deep')) === '1')
    node.write('sub/deep/b.yaml', map('later', '1'))
    await until(async () => (await node.value('later')) === '1')
    mkdirSync(`${node.folder}/kustom`)
    node.write('kustom/built', map('built', '1'))
    node.write('kustom/part.yaml', map('part', '1'))
    node.write('kustom/kustomization.yaml', 'resources: [part.yaml]\n')
    await until(async () => (await node.value('built')) === '1')
    await until(async () => (await node.value('part')) === undefined)
  })

  test('repairs what others changed', async (t) => {
    const node = await setUp(t)
    node.write('a.yaml', map('a', '1'))
    await until(async () => (await node.value('a')) === '1')
    const path = '/api/v1/namespaces/default/configmaps/a'
    await node.send('PATCH:merge', path, { data: { value: 'x', more: 'y' } })
    await until(async () => (await node.value('a')) === '1')
    await node.send('DELETE', path, {})
    await until(async () => (await node.value('a')) === '1')
    assert.ok(node.said.includes('ConfigMap default/a repaired'))
  })

  test('keeps what a file said before it became bad', async (t) => {
    const node = await setUp(t)
    node.write('a.yaml', map('a', '1'))
    await until(async () => (await node.value('a')) === '1')
    node.write('a.yaml', 'kind: [')
    await until(() => node.said.some((line) => line.startsWith('Cannot apply')))
    node.write('b.yaml', map('b', '1'))
    await until(async () => (await node.value('b')) === '1')
    assert.equal(await node.value('a'), '1')
  })

  test('deletes nothing of the files because the API did not answer', async (t) => {
    const node = await setUp(t)
    node.write('a.yaml', map('a', '1'))
    await until(async () => (await node.value('a')) === '1')
    await node.leave()
    node.client.failure = () => {
      node.client.failure = undefined
      return new KubeUnreachableError('Cannot reach the API: connection refused')
    }
    await node.restart()
    await until(() => node.said.some((line) => line.startsWith('Cannot apply ConfigMap a')))
    node.write('b.yaml', map('b', '1'))
    await until(() => node.said.includes('ConfigMap default/a unchanged'))
    assert.ok(!node.said.includes('ConfigMap default/a deleted'))
  })

  test('goes on when it cannot write its record', async (t) => {
    const node = await setUp(t)
    mkdirSync(node.recordFile)
    node.write('a.yaml', map('a', '1'))
    await until(() => node.said.some((line) => /^Cannot apply ".*\/objects": EISDIR/.test(line)))
    rmSync(node.recordFile, { recursive: true })
    await until(async () => (await node.value('a')) === '1')
  })

  test('creates a pod again that cannot become what is wanted', async (t) => {
    const node = await setUp(t)
    node.write('p.yaml', pod('one'))
    const path = '/api/v1/namespaces/default/pods/p'
    const read = async () =>
      (await node.get(path)) as {
        status: number
        body: { metadata: { uid: string }; spec: { containers: { command: string[] }[] } }
      }
    await until(async () => (await read()).status === 200)
    const first = (await read()).body.metadata.uid
    node.write('p.yaml', pod('two'))
    await until(async () => (await read()).body.spec?.containers[0]?.command[0] === 'two')
    assert.notEqual((await read()).body.metadata.uid, first)
    assert.deepEqual(node.said, ['Pod default/p created', 'Pod default/p replaced'])
  })
})
