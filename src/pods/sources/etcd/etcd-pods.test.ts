import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { makeTemporaryFolder } from '../../../../test/fixtures/make-temporary-folder.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import { createLastGoodManifests } from '../../../system/directories/last-good-manifests.ts'
import { RefusedManifests } from '../refused-manifests.ts'
import { decodeStaticPods } from '../decode-static-pod.ts'
import { EtcdPods } from './etcd-pods.ts'

const NOW = { clusterId: 1n, revision: 1n }

const pod = (name: string, more: object = {}, image = 'busybox') => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...more },
  spec: { containers: [{ name: 'main', image }] },
})

function create(folder = join(makeTemporaryFolder(), 'good'), onDecode: (bytes: Uint8Array) => void = () => {}) {
  /** The key of each line of the log, and the items that it names. */
  const refused: string[] = []
  const lines: object[] = []
  const manifests = new RefusedManifests()
  const pods = new EtcdPods({
    isOurs: (key) => key.startsWith('/p'),
    decode(bytes, key) {
      onDecode(bytes)
      return decodeStaticPods(bytes, { kind: 'etcd', key }, { nodeName: 'n', refuseApiReferences: true })
    },
    logger: {
      ...silentLogger,
      warn(message, fields) {
        lines.push({ message, ...fields })
        const reasons = (fields?.['reason'] ?? []) as readonly string[]
        const items = reasons.flatMap((reason) => /^(\S*items\[\d+\]|\S+ \(items\[\d+\]\)):/.exec(reason)?.[1] ?? [])
        refused.push([fields?.['key'], ...new Set(items)].join(' '))
      },
    },
    lastGood: createLastGoodManifests(folder),
    refused: manifests,
    onRefused: () => {},
  })
  const encode = (value: unknown) =>
    value === undefined ? undefined : Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
  const change = (values: readonly (readonly [key: string, value: unknown])[]) =>
    pods.change(
      values.map(([key, value]) => ({ key, value: encode(value) })),
      NOW,
    )
  const put = (key: string, value: unknown) => change([[key, value]])
  return { pods, change, put, refused, lines, manifests, names: () => pods.pods.map(({ metadata }) => metadata.name) }
}

describe('EtcdPods', () => {
  test('takes a Pod, a PodList, a List and BoundPods, each under its key', async () => {
    const { put, names, pods } = create()
    await put('/p/1', pod('one'))
    await put('/p/2', {
      apiVersion: 'v1',
      kind: 'PodList',
      items: [{ metadata: { name: 'two' }, spec: pod('two').spec }],
    })
    await put('/p/3', { apiVersion: 'v1', kind: 'List', items: [pod('three')] })
    await put('/p/4', { kind: 'BoundPods', apiVersion: 'v1beta1', items: [{ id: 'four', spec: pod('four').spec }] })
    await put(
      '/p/5',
      'apiVersion: v1\nkind: Pod\nmetadata: {name: five}\nspec: {containers: [{name: main, image: a}]}\n',
    )
    assert.deepEqual(names(), ['one-n', 'two-n', 'three-n', 'four-n', 'five-n'])
    assert.equal(pods.pods[0]?.metadata.annotations?.['deckhand.local/etcd-key'], '/p/1')
  })

  test('leaves other keys alone', async () => {
    const { put, names } = create()
    assert.equal(await put('/q/1', pod('one')), false)
    assert.deepEqual(names(), [])
  })

  test('keeps the last good pods of a value that cannot be used, and names its key', async () => {
    const { put, names, refused } = create()
    await put('/p/1', pod('one'))
    for (const bad of ['{', '', 'k8s\0\n', 'k8s:enc:aescbc:v1:key', { kind: 'Deployment', apiVersion: 'apps/v1' }, '7'])
      await put('/p/1', bad)
    assert.deepEqual([names(), refused], [['one-n'], Array.from({ length: 6 }, () => '/p/1')])
    await put('/p/1', undefined)
    assert.deepEqual(names(), [])
  })

  for (const kind of ['PodList', 'List', 'BoundPods'])
    test(`a ${kind} whose items are no list is not the end of its pods; one without items is`, async () => {
      const { put, names, refused } = create()
      await put('/p', { apiVersion: 'v1', kind: 'PodList', items: [pod('one')] })
      for (const items of ['x', 7, { a: pod('a') }, false]) await put('/p', { apiVersion: 'v1', kind, items })
      assert.deepEqual([names(), refused], [['one-n'], ['/p', '/p', '/p', '/p']])
      await put('/p', { apiVersion: 'v1', kind, items: null })
      assert.deepEqual(names(), [])
    })

  test('pods of the first kubelets that make no sense are reported, and harm none beside them', async () => {
    const { put, names, refused } = create()
    const good = { id: 'good', spec: pod('good').spec }
    const spoil = (id: string, spec: object) => ({ id, spec: { ...pod(id).spec, ...spec } })
    const items = [
      7,
      good,
      { id: 'a', spec: 'x' },
      spoil('b', { containers: [7] }),
      spoil('c', { volumes: 'x' }),
      spoil('d', { restartPolicy: { sometimes: {} } }),
      spoil('e', { containers: [{ name: 'main', image: 'a', env: 'x' }] }),
    ]
    await put('/p', { kind: 'BoundPods', apiVersion: 'v1beta1', items })
    assert.deepEqual(names(), ['good-n'])
    assert.deepEqual(refused, [
      `/p ${['1', undefined, 'a', 'b', 'c', 'd', 'e'].flatMap((id, index) => (id === undefined ? [] : `default/${id} (items[${index}])`)).join(' ')}`,
    ])
  })

  test('a bad pod of a list harms none of the others, and stays as it was', async () => {
    const { put, pods, refused } = create()
    const images = () =>
      pods.pods.map(({ metadata, spec }) => `${metadata.name} ${spec.containers[0]?.image ?? ''}`).toSorted()
    const list = (items: readonly object[]) => ({ apiVersion: 'v1', kind: 'PodList', items })
    await put('/p', list([pod('a', {}, 'a:1'), pod('b', {}, 'b:1')]))
    await put(
      '/p',
      list([pod('a', {}, 'a:2'), { ...pod('b'), spec: { containers: [] } }, { metadata: {} }, pod('c', {}, 'c:2')]),
    )
    assert.deepEqual(images(), ['a-n a:2', 'b-n b:1', 'c-n c:2'])
    assert.deepEqual(refused, ['/p default/b (items[1]) items[2]'])
  })

  test('numbers of a list that are too large for a number of JavaScript are exact, or reported with their key', async () => {
    const { put, pods, refused } = create()
    const text = (value: string) =>
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [pod('a', { generation: 'N' }), pod('b')] }).replace(
        '"N"',
        value,
      )
    await put('/p', text('9007199254740993'))
    assert.deepEqual(
      pods.pods.map(({ metadata }) => [metadata.name, metadata.generation]),
      [
        ['a-n', 9007199254740993n],
        ['b-n', undefined],
      ],
    )
    await put('/p', text('99999999999999999999'))
    assert.deepEqual(refused, ['/p default/a (items[0])'])
  })

  test('a value that cannot be read for any other reason keeps no other from being read', async () => {
    const { change, names, refused } = create(undefined, (bytes) => {
      if (Buffer.from(bytes).includes('breaks')) throw new RangeError('Maximum call stack size exceeded')
    })
    await change([
      ['/p/1', pod('breaks')],
      ['/p/2', pod('two')],
    ])
    assert.deepEqual([names(), refused], [['two-n'], ['/p/1']])
  })

  test('of several pods of a list with one name the first counts, and the others are named', async () => {
    const { put, pods, refused } = create()
    await put('/p', { apiVersion: 'v1', kind: 'PodList', items: [pod('a', {}, 'a:1'), pod('b'), pod('a', {}, 'a:2')] })
    assert.deepEqual(
      pods.pods.map(({ metadata, spec }) => `${metadata.name} ${spec.containers[0]?.image ?? ''}`),
      ['a-n a:1', 'b-n busybox'],
    )
    assert.deepEqual(refused, ['/p default/a (items[2])'])
  })

  test('says that last good pods stay only where there are some', async () => {
    const { put, lines } = create()
    const list = (...items: readonly object[]) => ({ apiVersion: 'v1', kind: 'List', items })
    const bad = { ...pod('b'), spec: { containers: [] } }
    for (const value of ['{', list(), '{', list(pod('a'), bad), '{', list(pod('a'), pod('b')), list(pod('a'), bad)])
      await put('/p', value)
    assert.deepEqual(
      lines.map((line) => ('message' in line ? line.message : '')),
      [
        'cannot use a value of etcd',
        'cannot use a value of etcd',
        'cannot use some pods of a value of etcd',
        'cannot use a value of etcd, its last good pods stay',
        'cannot use some pods of a value of etcd, its last good pods stay',
      ],
    )
  })

  test('lists what is refused under its key, until it is good or gone', async () => {
    const { put, pods, manifests } = create()
    const listed = () => manifests.list().map(({ file, line, hasLastGood }) => [file, line, hasLastGood])
    await put('/p/1', pod('one'))
    await put('/p/1', 'kind: Pod\nmetadata: [')
    await put('/p/2', '{')
    assert.deepEqual(listed(), [
      ['etcd /p/1', 2, true],
      ['etcd /p/2', 1, false],
    ])
    await put('/p/1', pod('one'))
    assert.deepEqual(listed(), [['etcd /p/2', 1, false]])
    await put('/p/2', undefined)
    assert.deepEqual(listed(), [])
    await put('/p/2', '{')
    await pods.replace([], NOW)
    assert.deepEqual(listed(), [])
  })

  test('a bad pod of a list is reported by namespace, name and index, without a position that is not one of the value', async () => {
    const { put, lines, manifests } = create()
    const item = (name: string, image: string) =>
      `- apiVersion: v1\n  kind: Pod\n  metadata: {name: ${name}, namespace: shop}\n  spec:\n    containers:\n    - name: main\n${image}`
    const image = '      image: a\n'
    await put('/p', `apiVersion: v1\nkind: List\nitems:\n${item('l1', image)}${item('l2', image)}${item('l3', '')}`)
    const reason = 'shop/l3 (items[2]): spec.containers[0].image: Required value'
    assert.deepEqual(lines, [{ message: 'cannot use some pods of a value of etcd', key: '/p', reason: [reason] }])
    assert.deepEqual(manifests.list(), [{ file: 'etcd /p', line: undefined, reason, hasLastGood: false }])
  })

  test('a value is one line of the log, however much is wrong with it', async () => {
    const { put, lines } = create()
    const items = Array.from({ length: 2000 }, (_, index) => ({ ...pod(`p${index}`), spec: { containers: [] } }))
    await put('/p', { apiVersion: 'v1', kind: 'List', items })
    const unused = Array.from({ length: 12 }, (_, index) => ({ ...pod(`q${index}`), nonsense: 1 }))
    await put('/p', { apiVersion: 'v1', kind: 'List', items: unused })
    assert.deepEqual(
      lines.map((line) => ({
        ...line,
        reason: 'reason' in line && Array.isArray(line.reason) ? line.reason.length : 0,
      })),
      [
        {
          message: 'cannot use some pods of a value of etcd',
          key: '/p',
          reason: 10,
          more: 1990,
        },
        { message: 'manifest has a field that is not used', key: '/p', reason: 10, more: 2 },
      ],
    )
  })

  test('a pod keeps its UID when only labels or annotations change, and the UID that it has', async () => {
    const { put, pods } = create()
    const uid = () => pods.pods[0]?.metadata.uid
    await put('/p/1', pod('one'))
    const first = uid()
    await put('/p/1', pod('one', { labels: { a: 'b' }, annotations: { c: 'd' } }))
    assert.equal(uid(), first)
    await put('/p/1', pod('one', {}, 'other'))
    assert.notEqual(uid(), first)
    await put('/p/1', pod('one', { uid: 'u-7' }))
    assert.equal(uid(), 'u-7')
  })

  test('keeps the last good pods over the end of the agent, and forgets those of a key that went', async () => {
    const folder = join(makeTemporaryFolder(), 'good')
    const first = create(folder)
    await first.put('/p/1', { apiVersion: 'v1', kind: 'PodList', items: [pod('a'), pod('b')] })
    await first.put('/p/2', pod('gone'))
    await first.put('/p/2', undefined)
    const bad = [
      { key: '/p/1', value: Buffer.from('{') },
      { key: '/p/2', value: Buffer.from('{') },
    ]
    const second = create(folder)
    assert.equal(await second.pods.restore(), true)
    await second.pods.replace(bad, NOW)
    assert.deepEqual(second.names(), ['a-n', 'b-n'])
  })

  test('a bad value of a key that went before, in the same changes, has no last good pods', async () => {
    const { put, change, names } = create()
    await put('/p/1', pod('one'))
    await change([
      ['/p/1', undefined],
      ['/p/1', '{'],
    ])
    assert.deepEqual(names(), [])
  })

  test('what was kept stands in for the store only if it is all that there was', async () => {
    const folder = join(makeTemporaryFolder(), 'good')
    const restored = async () => {
      const { pods, names } = create(folder)
      return [await pods.restore(), names()]
    }
    assert.deepEqual(await restored(), [false, []])
    const first = create(folder)
    await first.put('/p/1', pod('a'))
    await first.put('/p/2', pod('b'))
    assert.deepEqual(await restored(), [true, ['a-n', 'b-n']])
    // A folder is in the way of the next version of a copy.
    const inTheWay = join(folder, `${createHash('sha256').update('/p/2').digest('hex')}.new`)
    mkdirSync(inTheWay)
    await first.put('/p/2', pod('b', {}, 'other'))
    rmdirSync(inTheWay)
    assert.deepEqual(await restored(), [false, ['a-n', 'b-n']])
    await first.put('/p/2', pod('b', {}, 'third'))
    assert.deepEqual(await restored(), [true, ['a-n', 'b-n']])
    // The other one is a copy without its key, as they were at first.
    for (const text of ['torn', '[["","{}"]]']) {
      writeFileSync(join(folder, 'f'.repeat(64)), text)
      assert.deepEqual(await restored(), [false, ['a-n', 'b-n']])
    }
  })
})
