import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import process from 'node:process'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Pod } from '../../../src/model/pod/pod.ts'
import { selfSigned } from '../../fixtures/self-signed.ts'
import { isStandalone, StandaloneNode } from '../support/standalone-node.ts'
import { isReady } from '../support/test-node.ts'
import { testContainer, testPod } from '../support/test-pod.ts'

const PODS = 10
const KILLS = 20
// The last of them hit an agent that has started, the first one that has hardly begun.
const LATEST_KILL_MS = 800

describe('a node', () => {
  let node: StandaloneNode
  let files = ''
  before(async () => {
    node = await StandaloneNode.start()
    files = `${node.lab.folder}/files`
    await mkdir(files)
  })
  after(async () => await node[Symbol.asyncDispose]())

  /** A pod that ends with this code as soon as there is a file of its name. */
  const endingPod = (name: string, code: number) => {
    const script = `until [ -e /files/${name} ]; do sleep 0.05; done; exit ${code}`
    const containers = [testContainer('main', script, { volumeMounts: [{ name: 'files', mountPath: '/files' }] })]
    return testPod(name, {
      restartPolicy: 'Never',
      volumes: [{ name: 'files', hostPath: { path: files } }],
      containers,
    })
  }
  const endPod = async (name: string) => await writeFile(`${files}/${name}`, '')
  const exitCode = ({ status }: Pod) => status?.containerStatuses?.[0]?.state?.terminated?.exitCode

  test(`whose agent is killed ${KILLS} times restarts nothing, and no pod flaps`, async () => {
    const names = Array.from({ length: PODS }, (_, index) => `steady-${index}`)
    await node.apply(...names.map((name) => testPod(name)))
    const observe = async () => ({
      pods: (await node.pods()).map(({ metadata: { uid, name }, status }) => ({
        uid,
        name,
        containers: status?.containerStatuses?.map(({ containerID, restartCount }) => [containerID, restartCount]),
        ready: status?.conditions?.map(({ type, status: value, lastTransitionTime }) => [
          type,
          value,
          lastTransitionTime,
        ]),
      })),
      node: (await node.node()).status?.conditions?.map(({ type, status, lastTransitionTime }) => [
        type,
        status,
        lastTransitionTime,
      ]),
      running: (await node.running()).toSorted(),
      sandboxes: (await node.sandboxes()).toSorted(),
    })
    await node.waitFor('the pods to be ready', async () => (await node.pods()).filter(isReady).length === PODS)
    const expected = await observe()
    assert.equal(expected.running.length, PODS)
    for (let kill = 0; kill < KILLS; kill += 1) {
      await sleep((kill / KILLS) * LATEST_KILL_MS)
      await node.killAgent()
    }
    await node.waitFor(
      'the last agent to know all',
      async () => (await node.agentPods()).filter(isReady).length === PODS,
    )
    // An agent that does something wrong does it before it takes another change.
    await node.apply(testPod('next'))
    const { metadata } = await node.ready('next')
    await node.kubectl('delete', 'pod', 'next')
    const sandboxes = await node.sandboxes(metadata.uid)
    const found = await observe()
    assert.deepEqual({ ...found, sandboxes: found.sandboxes.filter((id) => !sandboxes.includes(id)) }, expected)
    await node.kubectl('delete', 'pod', ...names, '--grace-period=1')
  })

  test('whose agent is killed while a pod ends keeps to its grace, and runs no hook twice', async () => {
    const script = 'trap "" TERM; while :; do sleep 0.1; done'
    const lifecycle = { preStop: { exec: { command: ['sh', '-c', 'echo bye >> /files/hook'] } } }
    const volumeMounts = [{ name: 'files', mountPath: '/files' }]
    const graceSeconds = 14
    await node.apply(
      testPod('deaf', {
        terminationGracePeriodSeconds: graceSeconds,
        volumes: [{ name: 'files', hostPath: { path: files } }],
        containers: [testContainer('main', script, { lifecycle, volumeMounts })],
      }),
    )
    const { metadata } = await node.ready('deaf')
    const deletedAt = performance.now()
    await node.kubectl('delete', 'pod', 'deaf', '--wait=false')
    await sleep(10_000 - (performance.now() - deletedAt))
    await node.killAgent()
    await node.waitFor('the container to end', async () => (await node.running(metadata.uid)).length === 0)
    const seconds = (performance.now() - deletedAt) / 1000
    assert.equal(await readFile(`${files}/hook`, 'utf8'), 'bye\n')
    assert.ok(seconds > graceSeconds - 1, `it has its grace, not only ${seconds} s`)
    // From zero it would be 24.
    assert.ok(seconds < 22, `it has no more than its grace, not ${seconds} s`)
    await node.gone('deaf')
  })

  test('goes on without its API, and reports to it afterwards', async () => {
    await node.apply(endingPod('ends-alone', 7), testPod('stays'))
    await node.writeManifest('leaves', testPod('leaves'))
    const ending = await node.podIs('ends-alone', 'running', isReady)
    const staying = await node.ready('stays')
    const { metadata } = await node.waitFor('the mirror pod', async () => {
      return (await node.pods()).find((pod) => pod.metadata.name.startsWith('leaves-') && isReady(pod))
    })
    const staticUid = metadata.annotations?.['kubernetes.io/config.mirror']
    await node.endUp('SIGKILL')
    const { exitCode: code, stdout } = await node.deckhand('status')
    assert.equal(code, 3)
    // A node of a real control plane has no rules of ours for them.
    const services = isStandalone ? 'whose rules follow no change' : 'not forwarded'
    assert.match(stdout, new RegExp(`^services .* ${services}: "deckhand up" does not run\nnames +not answered: `, 'm'))
    await endPod('ends-alone')
    await node.removeManifest('leaves')
    await node.waitFor('both to end', async () => {
      const running = [...(await node.running(ending.metadata.uid)), ...(await node.running(staticUid))]
      return running.length === 0
    })
    await node.up()
    const ended = await node.podIs('ends-alone', 'ended', ({ status }) => status?.phase === 'Failed')
    assert.equal(exitCode(ended), 7)
    await node.gone(metadata.name)
    const stayed = await node.ready('stays')
    assert.deepEqual(stayed.status?.containerStatuses, staying.status?.containerStatuses)
  })

  test('reconnects to an API whose packets were lost', async () => {
    await node.apply(endingPod('ends-cut-off', 5))
    const ending = await node.podIs('ends-cut-off', 'running', isReady)
    const rule = ['INPUT', '-i', 'lo', '-p', 'tcp', '--dport', '6443', '-j', 'DROP']
    assert.equal((await node.lab.runInside(['iptables', '-I', ...rule])).exitCode, 0)
    await endPod('ends-cut-off')
    await node.writeManifest('comes', testPod('comes'))
    await node.waitFor('what happens meanwhile', async () => {
      const comes = (await node.agentPods()).find(({ metadata }) => metadata.name.startsWith('comes-'))
      return comes !== undefined && isReady(comes) && (await node.running(ending.metadata.uid)).length === 0
    })
    assert.equal((await node.lab.runInside(['iptables', '-D', ...rule])).exitCode, 0)
    const ended = await node.podIs('ends-cut-off', 'ended', ({ status }) => status?.phase === 'Failed')
    assert.equal(exitCode(ended), 5)
    await node.waitFor('the mirror pod', async () => {
      return (await node.pods()).find(({ metadata }) => metadata.name.startsWith('comes-'))
    })
    await node.apply(testPod('after'))
    await node.ready('after')
  })

  test('whose API answers every other request badly loses nothing', async () => {
    const { folder } = node.lab
    const argv = [process.execPath, spoilingProxy, `${node.state}/kubelet.kubeconfig`, '7443']
    await node.lab.startInside(argv, `${folder}/proxy.log`)
    const cluster = { server: 'https://127.0.0.1:7443', 'tls-server-name': 'nobody.test' }
    const kubeconfig = {
      clusters: [{ name: 'c', cluster: { ...cluster, 'certificate-authority-data': toBase64(selfSigned.cert) } }],
      users: [{ name: 'u', user: { token: 'not looked at' } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    }
    await writeFile(`${folder}/spoiled.conf`, JSON.stringify(kubeconfig))
    await node.apply(endingPod('ends-before', 3), testPod('goes'))
    const [before, goes] = [await node.podIs('ends-before', 'running', isReady), await node.ready('goes')]
    await node.changeAgent({ flags: [`--kubeconfig=${folder}/spoiled.conf`, `--cert-dir=${folder}/spoiled`] })
    await node.apply(endingPod('ends-after', 4), testPod('comes-too'))
    await endPod('ends-before')
    await endPod('ends-after')
    await node.kubectl('delete', 'pod', 'goes', '--wait=false')
    const ended = await Promise.all(
      ['ends-before', 'ends-after'].map((name) =>
        node.podIs(name, 'ended', ({ status }) => status?.phase === 'Failed'),
      ),
    )
    assert.deepEqual(ended.map(exitCode), [3, 4], JSON.stringify(ended.map(({ status }) => status)))
    await node.ready('comes-too')
    await node.gone('goes')
    for (const { metadata } of [before, goes]) assert.deepEqual(await node.running(metadata.uid), [])
  })
})

const spoilingProxy = fileURLToPath(new URL('../support/spoiling-proxy.ts', import.meta.url))

function toBase64(text: string): string {
  return Buffer.from(text).toString('base64')
}
