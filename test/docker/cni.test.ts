import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { isReady } from '../e2e/support/test-node.ts'
import type { TestNode } from '../e2e/support/test-node.ts'
import { testContainer, testPod } from '../e2e/support/test-pod.ts'
import { CniNode } from './cni-node.ts'

const SERVES = 'echo hello > /tmp/index.html; exec httpd -f -p 8080 -h /tmp'
const web = (name: string, hostPort?: number) =>
  testPod(
    name,
    {
      containers: [
        testContainer('main', SERVES, {
          ports: [{ containerPort: 8080, ...(hostPort === undefined ? {} : { hostPort }) }],
          readinessProbe: { httpGet: { port: 8080 }, periodSeconds: 1 },
        }),
      ],
    },
    { annotations: { 'kubernetes.io/ingress-bandwidth': '100M' } },
  )

describe('an agent on Docker with CNI plugins', () => {
  let cni: CniNode
  let node: TestNode
  before(async () => {
    cni = await CniNode.start()
    ;({ node } = cni)
  })
  after(() => cni?.[Symbol.asyncDispose]())

  test('waits with pods until there is a configuration, and says so', async () => {
    await node.lab.manifests.write('web', web('web', 18_080))
    await node.logged('NetworkPluginNotReady', 'docker: network plugin is not ready: cni config uninitialized')
    assert.equal((await node.containers('web')).length, 0)
    await cni.configure()
    const { status } = await node.ready('web')
    const [first, second] = (status?.podIPs ?? []).map(({ ip }) => ip)
    assert.match(first ?? '', /^10\.99\./)
    assert.match(second ?? '', /^fd99::/)
    assert.equal(status?.podIP, first)
  })

  test('gives a pod its device, with the MTU that is set, a loopback that is up, and a route', async () => {
    const link = await node.runIn('web', ['ip', '-o', 'link'])
    assert.match(link, /eth0.* mtu 1400 /)
    assert.match(link, /lo: <LOOPBACK,UP/)
    assert.match(await node.runIn('web', ['ip', 'route']), /default via 10\.99\.0\.1/)
  })

  test('has portmap pass a port of the node on, and bandwidth limit it', async () => {
    const response = await node.lab.network.get('http://10.99.0.1:18080/')
    assert.deepEqual([response.status, response.body], [200, 'hello\n'])
    const { stdout } = await node.lab.runInside(['tc', 'qdisc', 'show'])
    assert.match(stdout, /tbf .*rate 100Mbit/)
  })

  test('keeps the network over a restart of the agent, and of Docker', async () => {
    const before = await node.ready('web')
    await node.agent.kill('SIGKILL')
    await node.startAgent()
    await node.agent.healthy()
    await node.lab.runtime.restart()
    const now = await node.ready('web')
    assert.deepEqual(now.status?.podIPs, before.status?.podIPs)
    assert.equal(now.status?.containerStatuses?.[0]?.restartCount, 0)
    assert.equal((await node.lab.network.get('http://10.99.0.1:18080/')).status, 200)
    assert.deepEqual([(await cni.records()).length, (await cni.leases()).size], [1, 2])
  })

  test('makes another sandbox with another address when the first one ends, and gives the old one back', async () => {
    const before = await node.ready('web')
    const pause = (await node.lab.docker.names()).find((name) => name.startsWith('k8s_POD_web-lab_'))
    assert.equal(await node.lab.docker.ask('POST', `/containers/${pause}/kill`), 204)
    const now = await node.podIs('web', 'on another address', (pod) => {
      return isReady(pod) && pod.status?.podIP !== before.status?.podIP
    })
    assert.match(now.status?.podIP ?? '', /^10\.99\./)
    assert.equal((await cni.leases()).size, 2)
    assert.equal((await node.lab.network.get('http://10.99.0.1:18080/')).status, 200)
  })

  test('gives back the address of a sandbox that was removed by hand', async () => {
    const names = (await node.lab.docker.names()).filter((name) => name.includes('_web-lab_'))
    for (const name of names) await node.lab.docker.ask('DELETE', `/containers/${name}?force=1`)
    await node.waitFor('one record', async () => {
      const pod = await node.agent.pod('web')
      if (pod === undefined || !isReady(pod)) return false
      const leases = await cni.leases()
      return leases.has(pod.status?.podIP ?? '') && leases.size === 2 && (await cni.records()).length === 1
    })
    assert.equal(await cni.devices(), 1)
  })

  test('runs pods in the network of the node without plugins', async () => {
    await node.lab.manifests.write('host', testPod('host', { hostNetwork: true }))
    await node.ready('host')
    assert.equal((await cni.records()).length, 1)
  })

  test('leaves nothing behind, also by an agent without these settings', async () => {
    const before = await node.ready('web')
    await node.agent.kill()
    await cni.startWithoutCni()
    const pod = await node.ready('web')
    assert.deepEqual(pod.status?.podIPs, before.status?.podIPs)
    assert.equal((await cni.records()).length, 1)
    await node.lab.manifests.remove('web')
    await node.gone(pod)
    assert.deepEqual([[...(await cni.leases())], await cni.records(), await cni.devices()], [[], [], 0])
    const { stdout } = await node.lab.runInside(['iptables', '-t', 'nat', '-S'])
    assert.ok(!stdout.includes('18080'), stdout)
  })
})
