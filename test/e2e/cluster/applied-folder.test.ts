import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { BUSYBOX_IMAGE } from '../../../src/standalone/images/node-images.ts'
import { notInCluster, StandaloneNode } from '../support/standalone-node.ts'

interface ConfigMap {
  readonly data: Readonly<Record<string, string>>
  readonly metadata: { readonly uid: string }
}

const configMap = (name: string, value: string) => `
apiVersion: v1
kind: ConfigMap
metadata: {name: ${name}}
data: {key: ${value}}
`
const pod = (name: string, word: string) => `
apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: ${BUSYBOX_IMAGE}
    imagePullPolicy: Never
    command: [sh, -c, 'echo ${word} $KEY; trap "exit 0" TERM; while :; do sleep 1000 & wait $!; done']
    env: [{name: KEY, valueFrom: {configMapKeyRef: {name: shared, key: key}}}]
`

describe('deckhand up --apply', { skip: notInCluster('a command of the standalone node') }, () => {
  let node: StandaloneNode
  let folder = ''
  before(async () => {
    node = await StandaloneNode.start((lab) => {
      folder = `${lab.folder}/objects`
      mkdirSync(folder)
      return { flags: ['--apply', folder] }
    })
  })
  after(async () => await node[Symbol.asyncDispose]())

  const write = async (file: string, text: string) => {
    await writeFile(`${node.lab.folder}/draft`, text)
    await rename(`${node.lab.folder}/draft`, `${folder}/${file}`)
  }
  const readMap = (name: string) => node.get<ConfigMap>(`/api/v1/namespaces/default/configmaps/${name}`)
  const mapIs = async (name: string, value: string | undefined) =>
    await node.waitFor(`ConfigMap "${name}" to be ${value}`, async () => (await readMap(name))?.data['key'] === value)

  test('does not start with a folder that is not there', async () => {
    const { exitCode, stderr } = await node.deckhand('up', '--apply', `${folder}/none`)
    assert.equal(exitCode, 2)
    assert.equal(stderr, `deckhand: Cannot use --apply "${folder}/none": there is no such folder\n`)
  })

  test('applies objects whatever their order', async () => {
    await write('all.yaml', `${pod('web', 'first')}---\n# what it needs\n${configMap('shared', 'one')}`)
    const web = await node.ready('web')
    assert.deepEqual((await node.logLines(web))[0], 'first one')
    assert.match(await node.output(), /ConfigMap default\/shared created\nPod default\/web created/)
  })

  test('applies a sub-folder, and what kubectl makes of a kustomization', async () => {
    await mkdir(`${folder}/sub`)
    await writeFile(`${folder}/sub/inner.yaml`, configMap('inner', 'one'))
    await mapIs('inner', 'one')
    await mkdir(`${folder}/kustom`)
    await writeFile(`${folder}/kustom/base.yaml`, configMap('kustom', 'one'))
    await writeFile(`${folder}/kustom/kustomization.yaml`, 'namePrefix: my-\nresources: [base.yaml]\n')
    await mapIs('my-kustom', 'one')
    await rm(`${folder}/kustom`, { recursive: true })
    await mapIs('my-kustom', undefined)
  })

  test('applies what changes, and creates a pod again that cannot change', async () => {
    const before = await node.ready('web')
    const { metadata } = (await readMap('shared'))!
    await write('all.yaml', `${pod('web', 'second')}---\n${configMap('shared', 'two')}`)
    const replaced = await node.podIs('web', 'another', ({ metadata: { uid }, status }) => {
      return uid !== before.metadata.uid && status?.phase === 'Running'
    })
    assert.deepEqual((await node.logLines(replaced))[0], 'second two')
    assert.equal((await readMap('shared'))?.metadata.uid, metadata.uid)
  })

  test('names what is wrong with a file, and goes on with the others', async () => {
    await write('bad.yaml', `${configMap('never', 'x')}---\nkind: ConfigMap\napiVersion: v1\nmetadata:\n  labels: {}\n`)
    await write('good.json', JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'good' } }))
    await node.waitFor('the good one', async () => (await readMap('good')) !== undefined)
    await node.waitFor('the word about the bad one', async () => {
      return (await node.output()).includes(`Cannot apply "${folder}/bad.yaml": line 9: metadata.name is missing`)
    })
    assert.equal(await readMap('never'), undefined)
    await node.ready('web')
    await write('refused.yaml', configMap('refused', '{a: b}'))
    await node.waitFor('the message about one that the API rejects', async () => {
      return (await node.output()).includes(`Cannot apply ConfigMap default/refused of "${folder}/refused.yaml": `)
    })
    await rm(`${folder}/good.json`)
    await rm(`${folder}/bad.yaml`)
    await node.waitFor('the good one to be gone', async () => (await readMap('good')) === undefined)
    await rm(`${folder}/refused.yaml`)
    // One that may not be deleted is no reason to end either.
    await write('namespace.yaml', 'apiVersion: v1\nkind: Namespace\nmetadata: {name: default}\n')
    await node.waitFor('the namespace', async () => (await node.output()).includes('Namespace default configured'))
    await rm(`${folder}/namespace.yaml`)
    await node.waitFor('the word about the namespace', async () => {
      return (await node.output()).includes('Cannot delete Namespace default: ')
    })
  })

  test('deletes what leaves the folder, also while the node is down', async () => {
    await write('more.yaml', `${configMap('leaves-later', 'x')}---\n${configMap('leaves-now', 'x')}`)
    await mapIs('leaves-now', 'x')
    await write('more.yaml', configMap('leaves-later', 'x'))
    await node.waitFor('one to be gone', async () => (await readMap('leaves-now')) === undefined)
    const before = await node.ready('web')
    await node.endUp('SIGTERM')
    await rm(`${folder}/more.yaml`)
    await write('new.yaml', configMap('new', 'z'))
    await node.up()
    await mapIs('new', 'z')
    await node.waitFor('the other to be gone', async () => (await readMap('leaves-later')) === undefined)
    assert.equal((await node.ready('web')).metadata.uid, before.metadata.uid)
    await rm(`${folder}/all.yaml`)
    await node.gone('web')
  })
})
