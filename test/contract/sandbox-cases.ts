import assert from 'node:assert/strict'
import { ContainerState, PodSandboxState } from '../../src/protocols/cri/generated/runtime-v1.ts'
import { fetchRuntimeStatus } from '../../src/protocols/cri/runtime-status.ts'
import { checkRuntimeVersion } from '../../src/protocols/cri/runtime-version.ts'
import { ContractPod, isReserved } from './contract-pod.ts'
import type { FailedCall } from './contract-pod.ts'
import type { ContractCase } from './cri-contract.ts'

/** The node and its sandboxes. */
export const sandboxCases: Readonly<Record<string, ContractCase>> = {
  'says who it is and that it is ready': async ({ client }, signal) => {
    const { name, version, apiVersion } = await checkRuntimeVersion(client, signal)
    assert.ok(name !== '' && version !== '')
    assert.equal(apiVersion, 'v1')
    const { runtimeReady, networkReady } = await fetchRuntimeStatus(client, signal)
    assert.deepEqual([runtimeReady?.status, networkReady?.status], [true, true])
  },

  'distinguishes a present image from an absent one': async ({ client, image }, signal) => {
    const present = await client.imageStatus({ image: { image } }, signal)
    assert.deepEqual(present.image?.repoTags, [image])
    const byId = await client.imageStatus({ image: { image: present.image.id } }, signal)
    assert.equal(byId.image?.id, present.image.id)
    assert.equal((await client.imageStatus({ image: { image: 'localhost/none:1' } }, signal)).image, undefined)
    const { images } = await client.listImages({}, signal)
    assert.ok(images.some(({ id }) => id === present.image?.id))
  },

  'runs, stops and removes a sandbox': async (subject, signal) => {
    await using pod = await ContractPod.run(subject, 'sandbox-life', signal)
    const ready = await pod.status()
    assert.equal(ready.state, PodSandboxState.SANDBOX_READY)
    assert.deepEqual(ready.metadata, pod.config.metadata)
    assert.deepEqual(ready.labels, pod.config.labels)
    assert.deepEqual(ready.annotations, pod.config.annotations)
    assert.match(ready.network?.ip ?? '', /^10\./)

    await subject.client.stopPodSandbox({ podSandboxId: pod.id }, signal)
    await subject.client.stopPodSandbox({ podSandboxId: pod.id }, signal)
    const stopped = await pod.status()
    assert.equal(stopped.state, PodSandboxState.SANDBOX_NOTREADY)
    assert.equal(stopped.network?.ip, '')
    // containerd 2 makes it, and does not start it.
    await assert.rejects(pod.start('late', 'waitsForTerm'), ({ code }: { code: string }) =>
      ['NotFound', 'Unknown'].includes(code),
    )

    await subject.client.removePodSandbox({ podSandboxId: pod.id }, signal)
    await subject.client.removePodSandbox({ podSandboxId: pod.id }, signal)
    await assert.rejects(pod.status(), { code: 'NotFound' })
  },

  'refuses a second sandbox of the same pod and attempt': async (subject, signal) => {
    await using pod = await ContractPod.run(subject, 'sandbox-twice', signal)
    await assert.rejects(ContractPod.run(subject, 'sandbox-twice', signal), (error: FailedCall) =>
      isReserved(error, 'pod_contract_sandbox-twice_0', pod.id),
    )
  },

  'refuses a handler that it does not have': async ({ client }, signal) => {
    const config = { metadata: { name: 'pod', namespace: 'contract', uid: 'handler', attempt: 0 } }
    await assert.rejects(client.runPodSandbox({ config, runtimeHandler: 'none' }, signal), {
      code: 'Unknown',
      detail: /: no runtime for "none" is configured$/,
    })
  },

  'lists sandboxes by id, state and labels': async (subject, signal) => {
    await using pod = await ContractPod.run(subject, 'sandbox-list', signal)
    const labelSelector = { 'io.kubernetes.pod.uid': 'sandbox-list' }
    const rows = [
      [{ id: pod.id }, [pod.id]],
      [{ labelSelector }, [pod.id]],
      [{ labelSelector, state: { state: PodSandboxState.SANDBOX_READY } }, [pod.id]],
      [{ labelSelector, state: { state: PodSandboxState.SANDBOX_NOTREADY } }, []],
      [{ labelSelector: { ...labelSelector, more: 'x' } }, []],
      [{ id: 'none' }, []],
    ] as const
    for (const [filter, expected] of rows) {
      const { items } = await subject.client.listPodSandbox({ filter }, signal)
      assert.deepEqual(
        items.map(({ id }) => id),
        expected,
      )
    }
  },

  'kills the containers of a stopped sandbox': async (subject, signal) => {
    await using pod = await ContractPod.run(subject, 'sandbox-stop', signal)
    const containerId = await pod.start('main', 'ignoresTerm')
    await subject.client.stopPodSandbox({ podSandboxId: pod.id }, signal)
    const status = await pod.containerStatus(containerId)
    assert.deepEqual([status.state, status.exitCode, status.reason], [ContainerState.CONTAINER_EXITED, 137, 'Error'])
  },

  'removes a ready sandbox with its running containers': async (subject, signal) => {
    const pod = await ContractPod.run(subject, 'sandbox-remove', signal)
    const containerId = await pod.start('main', 'ignoresTerm')
    await subject.client.removePodSandbox({ podSandboxId: pod.id }, signal)
    await assert.rejects(pod.status(), { code: 'NotFound' })
    await assert.rejects(pod.containerStatus(containerId), { code: 'NotFound' })
  },

  'takes stop and remove of what it does not know': async ({ client }, signal) => {
    await client.stopContainer({ containerId: 'none', timeout: 1n }, signal)
    await client.removeContainer({ containerId: 'none' }, signal)
    await client.stopPodSandbox({ podSandboxId: 'none' }, signal)
    await client.removePodSandbox({ podSandboxId: 'none' }, signal)
    await client.removeImage({ image: { image: 'localhost/none:1' } }, signal)
  },
}
