import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
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
    node.write('a.yaml', '# nothing any more\n')
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
        line: 10,
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

  test('follows no link to a folder, and says so', async (t) => {
    const node = await setUp(t)
    mkdirSync(`${node.folder}/../elsewhere`)
    writeFileSync(`${node.folder}/../elsewhere/a.yaml`, map('elsewhere', '1'))
    symlinkSync('../elsewhere', `${node.folder}/link`)
    symlinkSync('../elsewhere/a.yaml', `${node.folder}/file.yaml`)
    await until(async () => (await node.value('elsewhere')) === '1')
    await until(() => (node.problems() as unknown[]).length === 1)
    const reason = 'a link to a folder, which is not followed'
    assert.deepEqual(node.problems(), [{ file: `${node.folder}/link`, reason, hasLastGood: false }])
    node.remove('link')
    await until(() => (node.problems() as unknown[]).length === 0)
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

  test('leaves the number of replicas to an autoscaler, and nothing else', async (t) => {
    const node = await setUp(t)
    const path = '/apis/apps/v1/namespaces/default/deployments/web'
    const deployment = (image: string, replicas = 'replicas: 3, ') =>
      `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {${replicas}selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: ${image}}]}}}\n`
    const read = async () =>
      (await node.get(path)).body as unknown as {
        spec?: { replicas: number; paused?: boolean; template: { spec: { containers: [{ image: string }] } } }
      }
    const replicas = async () => (await read()).spec?.replicas
    const scale = (count: number) => node.send('PATCH:strategic', path, { spec: { replicas: count } })
    node.write('web.yaml', deployment('a'))
    node.write(
      'scaler.yaml',
      'apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: scaler}\nspec: {maxReplicas: 5, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n',
    )
    await until(() => node.said.some((line) => line.startsWith('HorizontalPodAutoscaler')))
    await scale(2)
    // What the autoscaler does not own is kept as it was applied, and that is how to know that the files were looked at again.
    await node.send('PATCH:strategic', path, {
      spec: { paused: true, template: { spec: { containers: [{ name: 'c', image: 'b' }] } } },
    })
    await until(async () => (await read()).spec?.template.spec.containers[0].image === 'a')
    assert.equal(await replicas(), 2)
    // Another version of the file, and one that says nothing about it any more.
    node.write('web.yaml', deployment('d'))
    await until(async () => (await read()).spec?.template.spec.containers[0].image === 'd')
    node.write('web.yaml', deployment('e', ''))
    await until(async () => (await read()).spec?.template.spec.containers[0].image === 'e')
    assert.equal(await replicas(), 2)
    node.write('web.yaml', deployment('e', 'replicas: 4, '))
    // Without an autoscaler the file counts again.
    node.remove('scaler.yaml')
    await until(async () => (await replicas()) === 4)
    const word = 'Deployment default/web: the number of replicas is left to HorizontalPodAutoscaler scaler'
    assert.equal(node.said.filter((line) => line === word).length, 1)
  })

  test('deletes with an object what belongs to it: a Job by itself would leave its pods', async (t) => {
    const node = await setUp(t)
    node.write('a.yaml', map('a', '1'))
    const container = '{name: main, image: busybox}'
    node.write(
      'job.yaml',
      `apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, namespace: default}\nspec: {template: {spec: {restartPolicy: Never, containers: [${container}]}}}\n`,
    )
    const read = async () => await node.get('/apis/batch/v1/namespaces/default/jobs/j')
    await until(async () => (await read()).status === 200)
    const { uid } = ((await read()).body as { metadata: { uid: string } }).metadata
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid }
    const made = { metadata: { name: 'made', ownerReferences: [owner] }, data: { value: '1' } }
    await node.send('POST', '/api/v1/namespaces/default/configmaps', { apiVersion: 'v1', kind: 'ConfigMap', ...made })
    assert.equal(await node.value('made'), '1')
    node.remove('job.yaml')
    await until(async () => (await node.value('made')) === undefined)
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

  test('deletes nothing because its folder is gone, and says so', async (t) => {
    const node = await setUp(t)
    node.write('a.yaml', map('a', '1'))
    await until(async () => (await node.value('a')) === '1')
    rmSync(node.folder, { recursive: true })
    const gone = `Cannot apply "${node.folder}": there is no such folder any more; its objects stay`
    await until(() => node.said.includes(gone))
    assert.equal(await node.value('a'), '1')
  })

  test('deletes nothing because a folder is empty, and says so', async (t) => {
    const node = await setUp(t)
    node.write('a.yaml', map('a', '1'))
    await until(async () => (await node.value('a')) === '1')
    await node.leave()
    node.remove('a.yaml')
    await node.restart()
    await until(() => (node.problems() as unknown[]).length === 1)
    const [problem] = node.problems() as readonly { readonly file: string; readonly reason: string }[]
    assert.equal(problem?.file, node.folder)
    assert.match(problem.reason, /^there is no file in it: the 1 objects that came from it stay/)
    assert.equal(await node.value('a'), '1')
    node.write('none.yaml', '')
    await until(async () => (await node.value('a')) === undefined)
    await until(() => (node.problems() as unknown[]).length === 0)
  })

  test('keeps what others wrote when a member leaves a list', async (t) => {
    const node = await setUp(t)
    const deployment = (env: string) =>
      `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n    spec: {containers: [{name: c, image: a, env: [${env}]}]}\n`
    node.write('d.yaml', deployment('{name: A, value: "1"}, {name: B, value: "2"}'))
    const path = '/apis/apps/v1/namespaces/default/deployments/d'
    const read = async () =>
      (await node.get(path)) as {
        status: number
        body: { spec: { replicas: number; template: { spec: { containers: { env: object[] }[] } } } }
      }
    await until(async () => (await read()).status === 200)
    await node.send('PATCH:merge', path, { spec: { replicas: 3 } })
    node.write('d.yaml', deployment('{name: B, value: "2"}'))
    await until(async () => (await read()).body.spec.template.spec.containers[0]?.env.length === 1)
    assert.equal((await read()).body.spec.replicas, 3)
  })

  test('keeps an object whose file names another version of its group', async (t) => {
    const node = await setUp(t)
    const scaler = (version: string) =>
      `apiVersion: autoscaling/${version}\nkind: HorizontalPodAutoscaler\nmetadata: {name: h}\nspec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}}\n`
    node.write('h.yaml', scaler('v1'))
    const path = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/h'
    const uid = async () => ((await node.get(path)).body as { metadata?: { uid?: string } }).metadata?.uid
    await until(async () => (await uid()) !== undefined)
    const first = await uid()
    node.write('h.yaml', scaler('v2'))
    node.write('mark.yaml', map('mark', '1'))
    await until(async () => (await node.value('mark')) === '1')
    node.write('mark.yaml', map('mark', '2'))
    await until(async () => (await node.value('mark')) === '2')
    assert.equal(await uid(), first)
    assert.ok(!node.said.some((line) => line.endsWith('deleted')), node.said.join('\n'))
  })

  describe('with custom resources', () => {
    const definition = (kind: string) => {
      const plural = `${kind.toLowerCase()}s`
      const schema = '{type: object, x-kubernetes-preserve-unknown-fields: true}'
      return `apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: ${plural}.shop.example}\nspec:\n  group: shop.example\n  scope: Namespaced\n  names: {plural: ${plural}, kind: ${kind}}\n  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: ${schema}}}]\n`
    }
    const custom = (kind: string, size: number) =>
      `apiVersion: shop.example/v1\nkind: ${kind}\nmetadata: {name: x}\nspec: {size: ${size}, parts: [{name: a}]}\n`
    const sizeOf = async (node: Awaited<ReturnType<typeof setUp>>, plural: string) => {
      const { body } = await node.get(`/apis/shop.example/v1/namespaces/default/${plural}/x`)
      return (body as { spec?: { size?: number } }).spec?.size
    }

    test('changes them, and repairs what others changed', async (t) => {
      const node = await setUp(t)
      node.write('a-widget.yaml', custom('Widget', 1))
      node.write('definition.yaml', definition('Widget'))
      await until(async () => (await sizeOf(node, 'widgets')) === 1)
      node.write('a-widget.yaml', custom('Widget', 2))
      await until(async () => (await sizeOf(node, 'widgets')) === 2)
      const path = '/apis/shop.example/v1/namespaces/default/widgets/x'
      await node.send('PATCH:merge', path, { spec: { size: 5 } })
      await until(async () => (await sizeOf(node, 'widgets')) === 2)
      assert.deepEqual(node.problems(), [])
    })

    test('takes a second kind of a group that it knows, and forgets kinds that have gone', async (t) => {
      const node = await setUp(t)
      node.write('widgets.yaml', `${definition('Widget')}---\n${custom('Widget', 1)}`)
      await until(async () => (await sizeOf(node, 'widgets')) === 1)
      node.write('gadgets.yaml', `${definition('Gadget')}---\n${custom('Gadget', 3)}`)
      await until(async () => (await sizeOf(node, 'gadgets')) === 3)
      await node.leave()
      node.write('gadgets.yaml', '')
      node.write('widgets.yaml', '')
      await node.restart()
      await until(async () => (await node.get('/apis/shop.example/v1')).status === 404)
      node.write('mark.yaml', map('mark', '1'))
      await until(async () => (await node.value('mark')) === '1')
      assert.deepEqual(node.problems(), [])
    })
  })
})
