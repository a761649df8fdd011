/** A short form of "npm run test:runtimes", on a containerd that is newer than the machine's own. */
import assert from 'node:assert/strict'
import process from 'node:process'
import { after, before, describe, test } from 'node:test'
import { errorMessage } from '../../../src/base/telemetry/error-text.ts'
import { NEWEST_RELEASE, openRelease, runtimeReleases } from '../../../tools/runtimes/runtime-releases.ts'
import { BUSYBOX_IMAGE } from '../../../src/standalone/images/node-images.ts'
import { IMAGE_STORE } from '../lab/image-store.ts'
import { TestNode } from '../support/test-node.ts'
import { scripts, testContainer, testPod } from '../support/test-pod.ts'

const skip = usePrograms()
const never = new AbortController().signal

/** Puts its programs in front of all others, for this process. The reason where they cannot be had, such as for want of a network. */
function usePrograms(): string | false {
  const release = runtimeReleases.find(({ name }) => name === NEWEST_RELEASE)
  if (release === undefined) throw new Error(`Cannot find ${NEWEST_RELEASE} among the releases`)
  try {
    process.env['PATH'] = `${openRelease(release, (text) => process.stdout.write(text))}:${process.env['PATH']}`
    // It was made by the machine's own containerd.
    delete process.env[IMAGE_STORE]
    return false
  } catch (error) {
    process.stdout.write(`not tested with ${NEWEST_RELEASE}: ${errorMessage(error)}\n`)
    return `no ${NEWEST_RELEASE}: ${errorMessage(error)}`
  }
}

describe('a pod on a newer containerd', { skip }, () => {
  let node: TestNode
  before(async () => {
    node = await TestNode.start()
  })
  after(() => node[Symbol.asyncDispose]())

  test('starts with an image as a volume, is probed, and runs commands', async () => {
    const { runtimeVersion } = await node.runtime.version({ version: '0.1.0' }, never)
    assert.match(runtimeVersion, /^v?2\./)
    const volumes = [{ name: 'data', image: { reference: BUSYBOX_IMAGE, pullPolicy: 'Never' } }]
    const container = testContainer('main', scripts.obedient, {
      volumeMounts: [{ name: 'data', mountPath: '/data' }],
      readinessProbe: { exec: { command: ['test', '-e', '/tmp/ready'] }, periodSeconds: 1 },
      livenessProbe: { exec: { command: ['test', '!', '-e', '/tmp/dead'] }, periodSeconds: 1, failureThreshold: 1 },
    })
    await node.lab.manifests.write('web', testPod('web', { volumes, containers: [container] }))
    const pod = await node.podIs('web', 'running', ({ status }) => status?.phase === 'Running')
    assert.match((await node.logLines(pod)).map(({ text }) => text).join('\n'), /^started /)
    assert.match(await node.runIn('web', ['cat', '/data/etc/group']), /^root:x:0:/)
    await node.runIn('web', ['touch', '/tmp/ready'])
    await node.ready('web')
  })

  test('goes on while agent and runtime are killed', async () => {
    const before = await node.processes()
    assert.equal(before.size, 1)
    await node.agent.kill('SIGKILL')
    await node.lab.runtime.restart()
    await node.startAgent()
    await node.agent.healthy()
    const { status } = await node.ready('web')
    assert.equal(status?.containerStatuses?.[0]?.restartCount, 0)
    assert.deepEqual(await node.processes(), before)
  })

  test('is restarted when it fails, and ends with its manifest', async () => {
    await node.runIn('web', ['touch', '/tmp/dead'])
    const restarted = await node.podIs(
      'web',
      'restarted',
      ({ status }) => status?.containerStatuses?.[0]?.restartCount === 1,
    )
    assert.equal(restarted.status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode, 0)
    await node.lab.manifests.remove('web')
    await node.gone(restarted)
    assert.deepEqual(await node.containers('web'), [])
  })
})
