import assert from 'node:assert/strict'
import { readFile, rm, writeFile } from 'node:fs/promises'
import process from 'node:process'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { ContainerStatus, Probe } from '../../../src/model/generated/core-v1.ts'
import type { Pod } from '../../../src/model/pod/pod.ts'
import { scripts, testContainer, testPod } from '../support/test-pod.ts'
import { isReady, TestNode } from '../support/test-node.ts'

const mainOf = (pod: Pod): ContainerStatus | undefined => pod.status?.containerStatuses?.[0]
const restartsOf = (pod: Pod) => mainOf(pod)?.restartCount ?? 0
const quick = { periodSeconds: 1, failureThreshold: 1 }
const serverScript = fileURLToPath(new URL('../support/health-server.ts', import.meta.url))
const never = new AbortController().signal

const serve = (script: string) =>
  `mkdir /www; echo fine > /www/ok; ${script} httpd -p 8080 -h /www; ${scripts.obedient}`

describe('probes', { concurrency: true }, () => {
  let node: TestNode
  before(async () => void (node = await TestNode.start()))
  after(() => node[Symbol.asyncDispose]())

  async function exec(name: string, script: string): Promise<void> {
    const [container] = await node.running(name)
    const request = { containerId: container?.id ?? '', cmd: ['sh', '-c', script], timeout: 10n }
    assert.equal((await node.runtime.execSync(request, never)).exitCode, 0)
  }

  async function run(name: string, script: string, probes: Readonly<Record<string, Probe>>): Promise<void> {
    const containers = [testContainer('main', script, { ports: [{ name: 'web', containerPort: 8080 }], ...probes })]
    await node.lab.manifests.write(name, testPod(name, { containers }))
  }

  const kinds: readonly (readonly [kind: string, probe: Probe, harm: string, reported: string])[] = [
    ['exec', { exec: { command: ['test', '-e', '/www/ok'] } }, 'rm /www/ok', 'Liveness probe failed: '],
    ['http', { httpGet: { port: 'web', path: '/ok' } }, 'rm /www/ok', 'HTTP probe failed with statuscode: 404'],
    ['tcp', { tcpSocket: { port: 8080 } }, 'kill $(pidof httpd)', 'connect: connection refused'],
  ]
  for (const [kind, probe, harm, reported] of kinds) {
    test(`liveness over ${kind}: a container that fails is restarted, with the grace of its probe`, async () => {
      const name = `live-${kind}`
      const stubborn = serve('').replace(scripts.obedient, scripts.stubborn)
      await run(name, stubborn, {
        livenessProbe: { ...probe, ...quick, failureThreshold: 2, terminationGracePeriodSeconds: 3 },
      })
      const pod = await node.podIs(name, 'running', (pod) => mainOf(pod)?.state?.running !== undefined)
      await sleep(3000)
      assert.equal(restartsOf((await node.agent.pod(name)) ?? pod), 0)
      await exec(name, harm)
      const restarted = await node.podIs(name, 'restarted', (pod) => restartsOf(pod) === 1 && isReady(pod))
      const [, term] = await node.logLines(pod)
      const endedAt = Date.parse(mainOf(restarted)?.lastState?.terminated?.finishedAt ?? '')
      const grace = endedAt - (term?.at ?? 0)
      assert.match(term?.text ?? '', /^term/)
      assert.ok(grace > 1500 && grace < 4500, `killed ${grace} ms after SIGTERM`)
      assert.equal(mainOf(restarted)?.lastState?.terminated?.exitCode, 137)
      await node.logged('reason="Unhealthy"', `default/${name}-lab`, reported)
      await node.logged('reason="Killing"', `default/${name}-lab`, 'failed liveness probe, will be restarted')
    })
  }

  test('readiness follows a file, and restarts nothing', async () => {
    await run('toggled', serve('rm /www/ok;'), { readinessProbe: { httpGet: { port: 'web', path: '/ok' }, ...quick } })
    const pod = await node.podIs('toggled', 'running', (pod) => mainOf(pod)?.state?.running !== undefined)
    await sleep(2500)
    assert.equal(isReady((await node.agent.pod('toggled')) ?? pod), false)
    await exec('toggled', 'echo > /www/ok')
    await node.ready('toggled')
    await exec('toggled', 'rm /www/ok')
    const again = await node.podIs('toggled', 'not ready', (pod) => !isReady(pod))
    assert.deepEqual([restartsOf(again), mainOf(again)?.started], [0, true])
  })

  const servers: readonly (readonly [kind: string, probe: Probe, reported: string])[] = [
    ['grpc', { grpc: { port: 9000, service: 'shop' } }, 'service unhealthy (responded with \\"NOT_SERVING\\")'],
    ['https', { httpGet: { port: 9000, scheme: 'HTTPS', path: '/' } }, 'HTTP probe failed with statuscode: 503'],
  ]
  for (const [kind, probe, reported] of servers) {
    test(`readiness over ${kind} follows what a server in the pod says`, async () => {
      const name = `served-${kind}`
      await run(name, scripts.obedient, { readinessProbe: { ...probe, ...quick } })
      await node.logged('Readiness probe failed', `default/${name}-lab`, 'connect')
      const [container] = await node.running(name)
      const { pid } = await node.inspect(container?.id ?? '')
      const file = `${node.lab.folder}/${name}`
      await writeFile(file, '')
      // busybox speaks neither, so a process of ours serves in the pod's network.
      const server = [process.execPath, serverScript, kind, '9000', file]
      await node.lab.startInside(['nsenter', `--net=/proc/${pid}/ns/net`, ...server], `${file}.log`)
      await node.ready(name)
      await rm(file)
      const pod = await node.podIs(name, 'not ready', (pod) => !isReady(pod))
      await node.logged('reason="Unhealthy"', `default/${name}-lab`, reported)
      assert.equal(restartsOf(pod), 0)
    })
  }

  test('a startup probe holds back readiness and liveness', async () => {
    const probes = {
      startupProbe: { exec: { command: ['test', '-e', '/tmp/started'] }, periodSeconds: 1, failureThreshold: 60 },
      livenessProbe: { exec: { command: ['test', '-e', '/tmp/started'] }, ...quick },
      readinessProbe: { exec: { command: ['true'] }, ...quick },
    }
    await run('starts', `mkdir -p /tmp; ${scripts.obedient}`, probes)
    await node.podIs('starts', 'running', (pod) => mainOf(pod)?.state?.running !== undefined)
    await sleep(3500)
    const early = await node.agent.pod('starts')
    assert.deepEqual(early && [mainOf(early)?.started, mainOf(early)?.ready, restartsOf(early)], [false, false, 0])
    await exec('starts', 'echo > /tmp/started')
    const pod = await node.ready('starts')
    assert.deepEqual([mainOf(pod)?.started, restartsOf(pod)], [true, 0])
  })

  test('an exec probe that hangs is ended by its timeout', async () => {
    const livenessProbe = { exec: { command: ['sleep', '1000'] }, timeoutSeconds: 1, ...quick }
    await run('hangs', scripts.obedient, { livenessProbe })
    await node.logged('default/hangs-lab', 'timed out after 1s')
    await node.podIs('hangs', 'restarted', (pod) => restartsOf(pod) >= 1)
  })

  test('the startup probe of a sidecar gates what comes after it', async () => {
    const startupProbe = { exec: { command: ['test', '-e', '/go'] }, periodSeconds: 1, failureThreshold: 60 }
    const initContainers = [testContainer('proxy', scripts.obedient, { restartPolicy: 'Always', startupProbe })]
    await node.lab.manifests.write('gated', testPod('gated', { initContainers }))
    await node.waitFor('the sidecar', async () => (await node.running('gated')).length === 1)
    await sleep(2500)
    assert.deepEqual(
      (await node.running('gated')).map(({ metadata }) => metadata?.name),
      ['proxy'],
    )
    await exec('gated', 'echo > /go')
    await node.ready('gated')
  })
})

test('what was ready stays ready when the agent is killed', async () => {
  await using node = await TestNode.start()
  const probes = {
    startupProbe: { exec: { command: ['test', '-e', '/once'] }, periodSeconds: 1 },
    readinessProbe: { exec: { command: ['test', '-e', '/once'] }, periodSeconds: 30 },
  }
  const script = `echo > /once; ${scripts.obedient}`
  await node.lab.manifests.write('web', testPod('web', { containers: [testContainer('main', script, probes)] }))
  const { uid } = (await node.ready('web')).metadata
  const note = `${node.agent.rootDir}/pods/${uid}/probes.json`
  await node.waitFor('the note about the probes', async () => (await readFile(note, 'utf8')).includes('"ready":true'))
  // A new probe would fail: only a remembered result is a success.
  const [container] = await node.running('web')
  await node.runtime.execSync({ containerId: container?.id ?? '', cmd: ['rm', '/once'], timeout: 10n }, never)
  await node.agent.kill('SIGKILL')
  await node.startAgent()
  await node.agent.healthy()
  const pod = await node.podIs('web', 'known', (pod) => mainOf(pod)?.state?.running !== undefined)
  assert.deepEqual([isReady(pod), mainOf(pod)?.started, restartsOf(pod)], [true, true, 0])
  await sleep(1500)
  const later = await node.agent.pod('web')
  assert.equal(later !== undefined && isReady(later), true)
})

test('a pod in the network of the node is asked at the address of the node', async () => {
  await using node = await TestNode.start()
  // The node has an address since its first pod, whose network is a bridge; the agent reads it when it starts.
  await node.lab.manifests.write('first', testPod('first'))
  await node.ready('first')
  await node.agent.kill()
  await node.startAgent()
  const script = `mkdir /www; echo fine > /www/ok; httpd -p 18080 -h /www; ${scripts.obedient}`
  const readinessProbe = { httpGet: { port: 18_080, path: '/ok' }, ...quick }
  const containers = [testContainer('main', script, { readinessProbe })]
  await node.lab.manifests.write('on-node', testPod('on-node', { hostNetwork: true, containers }))
  const { status } = await node.ready('on-node')
  assert.deepEqual([status?.podIP, status?.hostIP], ['10.88.0.1', '10.88.0.1'])
})
