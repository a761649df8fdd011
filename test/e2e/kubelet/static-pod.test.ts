import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { cgroupFolders } from '../../../src/system/cgroups/cgroup-tree.ts'
import { containerHash } from '../../../src/model/pod/container-hash.ts'
import type { Pod } from '../../../src/model/pod/pod.ts'
import { BUSYBOX_IMAGE } from '../../../src/standalone/images/node-images.ts'
import { scripts, testContainer, testPod } from '../support/test-pod.ts'
import { TestNode } from '../support/test-node.ts'

// On a busy machine; where the kernel does not report the removal, it is seen after twenty seconds.
const AT_ONCE_MS = 10_000

describe('a static pod', () => {
  let node: TestNode
  before(async () => void (node = await TestNode.start()))
  after(() => node[Symbol.asyncDispose]())

  const podFolder = ({ metadata }: Pod) => `${node.agent.rootDir}/pods/${metadata.uid}`
  const logFolder = ({ metadata }: Pod) => `${node.podLogs}/${metadata.namespace}_${metadata.name}_${metadata.uid}`
  const cgroup = ({ metadata }: Pod) => `${node.lab.cgroupRoot}/kubepods/besteffort/pod${metadata.uid}`
  const exec = async (containerId: string, ...cmd: string[]) => {
    const { signal } = new AbortController()
    return Buffer.from((await node.runtime.execSync({ containerId, cmd, timeout: 10n }, signal)).stdout).toString()
  }
  const linksOf = async (id: string) => {
    const { stdout } = await node.lab.runInside([
      'find',
      '/var/log/containers',
      '-name',
      `*${id}.log`,
      '-printf',
      '%f %l',
    ])
    return stdout
  }

  test('runs as its manifest says and is reported', async () => {
    const pod = testPod('web', {
      hostname: 'front',
      hostAliases: [{ ip: '10.9.8.7', hostnames: ['db', 'db.example'] }],
      containers: [testContainer('main', scripts.obedient, { ports: [{ containerPort: 80, name: 'http' }] })],
    })
    await node.lab.manifests.write('web', pod)
    const web = await node.ready('web')
    assert.equal(web.metadata.name, 'web-lab')
    assert.equal(web.spec.nodeName, 'lab')
    assert.equal(web.status?.phase, 'Running')
    assert.match(web.status?.podIP ?? '', /^10\.88\./)
    const [main] = web.status?.containerStatuses ?? []
    assert.deepEqual([main?.ready, main?.started, main?.restartCount, main?.image], [true, true, 0, BUSYBOX_IMAGE])

    const [container, ...others] = await node.running('web')
    assert.deepEqual(others, [])
    assert.equal(main?.containerID, `${node.lab.runtime.name}://${container?.id}`)
    const lines = await node.logLines(web)
    assert.deepEqual(
      lines.map(({ stream, tag, text }) => [stream, tag, text.split(' ')[0]]),
      [['stdout', 'F', 'started']],
    )
    assert.equal(
      await linksOf(container?.id ?? ''),
      `web-lab_default_main-${container?.id}.log ${logFolder(web)}/main/0.log`,
    )

    assert.equal(await exec(container?.id ?? '', 'hostname'), 'front\n')
    const hosts = await exec(container?.id ?? '', 'cat', '/etc/hosts')
    assert.equal(hosts, await readFile(`${podFolder(web)}/etc-hosts`, 'utf8'))
    assert.ok(hosts.startsWith('# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n'), hosts)
    assert.match(hosts, new RegExp(`^${web.status?.podIP}\tfront$`, 'm'))
    assert.match(hosts, /^10\.9\.8\.7\tdb\tdb\.example$/m)
  })

  test('carries the marks of the Go kubelet in the runtime', async () => {
    const { metadata } = (await node.agent.pod('web')) as Pod
    const [container] = await node.running('web')
    const { status, pid } = await node.inspect(container?.id ?? '')
    assert.deepEqual(
      { ...status.labels },
      {
        'io.kubernetes.container.name': 'main',
        'io.kubernetes.pod.name': 'web-lab',
        'io.kubernetes.pod.namespace': 'default',
        'io.kubernetes.pod.uid': metadata.uid,
      },
    )
    const { 'io.kubernetes.container.ports': ports, ...annotations } = status.annotations
    assert.deepEqual(JSON.parse(ports ?? ''), [{ name: 'http', containerPort: 80, protocol: 'TCP' }])
    assert.deepEqual(annotations, {
      'io.kubernetes.container.hash': containerHash({ name: 'main', image: BUSYBOX_IMAGE }),
      'io.kubernetes.container.restartCount': '0',
      'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
      'io.kubernetes.container.terminationMessagePolicy': 'File',
      'io.kubernetes.pod.terminationGracePeriod': '5',
    })
    const cgroups = await readFile(`/proc/${await node.lab.outerPid(pid)}/cgroup`, 'utf8')
    assert.ok(
      cgroups.includes(`${node.lab.cgroupRoot}/kubepods/besteffort/pod${metadata.uid}/${container?.id}\n`),
      cgroups,
    )
  })

  describe('at its end', { concurrency: true }, () => {
    test('ends with its manifest and leaves nothing', async () => {
      const web = (await node.agent.pod('web')) as Pod
      const [container] = await node.running('web')
      const removedAt = await node.lab.manifests.remove('web')
      const reported = await node.waitFor('SIGTERM to reach the workload', async () => {
        return (await node.logLines(web)).find(({ text }) => text.startsWith('term '))
      })
      assert.ok(reported.at - removedAt < AT_ONCE_MS, `${reported.at - removedAt} ms`)
      await node.waitFor('the pod to leave /pods', async () => (await node.agent.pod('web')) === undefined)
      await leavesNothing(web, container?.id ?? '')
    })

    test('is killed when it does not end within its grace', async () => {
      const spec = { terminationGracePeriodSeconds: 3, containers: [testContainer('main', scripts.stubborn)] }
      await node.lab.manifests.write('mule', testPod('mule', spec))
      const mule = await node.ready('mule')
      const [container] = await node.running('mule')
      const removedAt = await node.lab.manifests.remove('mule')
      const reported = await node.waitFor('SIGTERM to reach the workload', async () => {
        return (await node.logLines(mule)).find(({ text }) => text.startsWith('term '))
      })
      const finished = await node.waitFor('the container to be killed', async () => {
        const { status } = await node.inspect(container?.id ?? '')
        return status.finishedAt > 0n && status
      })
      assert.equal(finished.exitCode, 137)
      const lastedMs = Number(finished.finishedAt) / 1e6 - reported.at
      assert.ok(reported.at - removedAt < AT_ONCE_MS, `${reported.at - removedAt} ms`)
      // Without a grace of its own it would be 30 s.
      assert.ok(lastedMs > 2500 && lastedMs < 15_000, `${lastedMs} ms`)
      await leavesNothing(mule, container?.id ?? '')
    })
  })

  async function leavesNothing(pod: Pod, containerId: string): Promise<void> {
    const labelSelector = { 'io.kubernetes.pod.uid': pod.metadata.uid }
    await node.waitFor('all of the pod to be gone', async () => {
      const { items } = await node.runtime.listPodSandbox({ filter: { labelSelector } }, new AbortController().signal)
      const left = [podFolder(pod), logFolder(pod), ...(await cgroupFolders(cgroup(pod)))].filter((path) =>
        existsSync(path),
      )
      const name = pod.metadata.name.replace(/-lab$/, '')
      return items.length + (await node.containers(name)).length + left.length === 0
    })
    assert.equal(await linksOf(containerId), '')
  }
})
