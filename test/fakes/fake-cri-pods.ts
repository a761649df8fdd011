import { ContainerConfig, PodSandboxConfig } from '../../src/protocols/cri/generated/runtime-v1.ts'
import type { FakeCri } from './fake-cri.ts'

export const FAKE_IMAGE = 'registry.test/app:1'

/** Puts a sandbox into a runtime as if an agent had made it; returns its id. The fake's journal of calls says nothing of it. */
export function addSandbox(fake: FakeCri, uid: string, attempt = 0): string {
  const config = PodSandboxConfig.fromPartial({
    metadata: { name: 'web', namespace: 'shop', uid, attempt },
    labels: {
      'io.kubernetes.pod.uid': uid,
      'io.kubernetes.pod.name': 'web',
      'io.kubernetes.pod.namespace': 'shop',
    },
  })
  return fake.runtime.runSandbox(config, '').id
}

/** Puts a container into a sandbox; it is made and not started. The fake needs FAKE_IMAGE. */
export function addContainer(fake: FakeCri, sandboxId: string, name: string, restartCount = 0): string {
  const config = ContainerConfig.fromPartial({
    metadata: { name, attempt: restartCount },
    image: { image: FAKE_IMAGE },
    labels: { ...fake.runtime.sandboxes.get(sandboxId)?.config.labels, 'io.kubernetes.container.name': name },
    annotations: {
      'io.kubernetes.container.hash': 'abc',
      'io.kubernetes.container.restartCount': String(restartCount),
      'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
    },
    mounts: [
      { containerPath: '/data', hostPath: '/host/data' },
      { containerPath: '/dev/termination-log', hostPath: '/host/last-words' },
    ],
  })
  return fake.runtime.createContainer(sandboxId, config).id
}

/** As addContainer(), and started. */
export function addRunning(fake: FakeCri, sandboxId: string, name: string, restartCount = 0): string {
  const id = addContainer(fake, sandboxId, name, restartCount)
  fake.runtime.startContainer(id, fake.runtime.programOf(fake.runtime.get(id)))
  return id
}
