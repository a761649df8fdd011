import assert from 'node:assert/strict'
import { ContainerState } from '../../src/protocols/cri/generated/runtime-v1.ts'
import { ContractPod, isReserved } from './contract-pod.ts'
import type { FailedCall } from './contract-pod.ts'
import type { ContractCase } from './cri-contract.ts'

const { CONTAINER_CREATED, CONTAINER_EXITED, CONTAINER_RUNNING } = ContainerState

/** Containers from their making to their removal. */
export const containerCases: Readonly<Record<string, ContractCase>> = {
  'creates, starts and sees a container end': async (subject, signal) => {
    await using pod = await ContractPod.run(subject, 'container-life', signal)
    const containerId = await pod.create('main', 'waitsForTerm')
    const created = await pod.containerStatus(containerId)
    assert.deepEqual([created.state, created.startedAt, created.finishedAt], [CONTAINER_CREATED, 0n, 0n])
    assert.equal(created.image?.image, subject.image)
    assert.match(created.imageRef, /^sha256:/)
    assert.equal(created.logPath, `${pod.config.logDirectory}/main.log`)

    await pod.startCreated(containerId, 'main', 'waitsForTerm')
    const running = await pod.containerStatus(containerId)
    assert.equal(running.state, CONTAINER_RUNNING)
    assert.ok(running.startedAt > running.createdAt)

    await subject.client.stopContainer({ containerId, timeout: 10n }, signal)
    const exited = await pod.containerStatus(containerId)
    assert.deepEqual([exited.state, exited.exitCode, exited.reason], [CONTAINER_EXITED, 3, 'Error'])
    assert.ok(exited.finishedAt > exited.startedAt)

    await subject.client.removeContainer({ containerId }, signal)
    await assert.rejects(pod.containerStatus(containerId), { code: 'NotFound' })
  },

  'reports how a container ended by itself': async (subject, signal) => {
    await using pod = await ContractPod.run(subject, 'container-ends', signal)
    const failed = await pod.reach(await pod.start('fails', 'fails'), CONTAINER_EXITED)
    assert.deepEqual([failed.exitCode, failed.reason], [7, 'Error'])
    const succeeded = await pod.reach(await pod.start('succeeds', 'succeeds'), CONTAINER_EXITED)
    assert.deepEqual([succeeded.exitCode, succeeded.reason], [0, 'Completed'])
  },

  'kills a container that outlives its grace period': async (subject, signal) => {
    await using pod = await ContractPod.run(subject, 'container-kill', signal)
    const containerId = await pod.start('main', 'ignoresTerm')
    await subject.client.stopContainer({ containerId, timeout: 1n }, signal)
    assert.equal((await pod.containerStatus(containerId)).exitCode, 137)
  },

  'kills a container sooner when a stop is given up and asked for again with a shorter grace period': async (
    subject,
    signal,
  ) => {
    await using pod = await ContractPod.run(subject, 'container-impatient', signal)
    const containerId = await pod.start('main', 'ignoresTerm')
    const patience = new AbortController()
    const slow = subject.client.stopContainer({ containerId, timeout: 600n }, patience.signal)
    // Long enough for the runtime to have begun; the outcome is the same if it had not.
    setTimeout(() => patience.abort(new Error('impatient')), 100)
    await assert.rejects(slow, /impatient/)
    assert.equal((await pod.containerStatus(containerId)).state, CONTAINER_RUNNING)
    await subject.client.stopContainer({ containerId, timeout: 1n }, signal)
    assert.equal((await pod.containerStatus(containerId)).exitCode, 137)
  },

  'leaves a container alone that does not run when it is stopped': async (subject, signal) => {
    await using pod = await ContractPod.run(subject, 'container-stop', signal)
    const containerId = await pod.create('main', 'fails')
    await subject.client.stopContainer({ containerId, timeout: 1n }, signal)
    assert.equal((await pod.containerStatus(containerId)).state, CONTAINER_CREATED)
    await subject.client.startContainer({ containerId }, signal)
    const { finishedAt } = await pod.reach(containerId, CONTAINER_EXITED)
    await subject.client.stopContainer({ containerId, timeout: 1n }, signal)
    assert.equal((await pod.containerStatus(containerId)).finishedAt, finishedAt)
  },

  'refuses a second container of the same name and attempt': async (subject, signal) => {
    await using pod = await ContractPod.run(subject, 'container-twice', signal)
    const containerId = await pod.create('main', 'waitsForTerm')
    const name = 'main_pod_contract_container-twice_0'
    await assert.rejects(pod.create('main', 'waitsForTerm'), (error: FailedCall) =>
      isReserved(error, name, containerId),
    )
    await subject.client.removeContainer({ containerId }, signal)
    assert.notEqual(await pod.create('main', 'waitsForTerm'), containerId)
  },

  'starts a container only once': async (subject, signal) => {
    await using pod = await ContractPod.run(subject, 'container-start', signal)
    const containerId = await pod.start('main', 'waitsForTerm')
    const start = () => subject.client.startContainer({ containerId }, signal)
    await assert.rejects(start, { code: 'Unknown', detail: /container is in CONTAINER_RUNNING state/ })
    await subject.client.stopContainer({ containerId, timeout: 10n }, signal)
    await assert.rejects(start, { code: 'Unknown', detail: /container is in CONTAINER_EXITED state/ })
    await assert.rejects(subject.client.startContainer({ containerId: 'none' }, signal), { code: 'NotFound' })
  },

  'keeps a container that cannot start as exited': async (subject, signal) => {
    await using pod = await ContractPod.run(subject, 'container-broken', signal)
    const containerId = await pod.create('main', 'cannotStart')
    const failure = await subject.client.startContainer({ containerId }, signal).then(
      () => assert.fail('it started'),
      (error: { code: string; detail: string }) => error,
    )
    assert.equal(failure.code, 'Unknown')
    const status = await pod.containerStatus(containerId)
    assert.deepEqual(
      [status.state, status.exitCode, status.reason, status.message, status.startedAt],
      [CONTAINER_EXITED, subject.cannotStart.exitCode, subject.cannotStart.reason, failure.detail, 0n],
    )
  },

  'creates nothing without image or sandbox': async (subject, signal) => {
    await using pod = await ContractPod.run(subject, 'container-nothing', signal)
    await assert.rejects(pod.create('main', 'fails', 'localhost/none:1'), {
      code: 'NotFound',
      detail: /failed to resolve image "localhost\/none:1": not found$/,
    })
    const { id } = pod
    pod.id = 'none'
    await assert.rejects(pod.create('main', 'fails'), {
      code: 'NotFound',
      detail: 'failed to find sandbox id "none": not found',
    })
    pod.id = id
  },

  'removes a running container': async (subject, signal) => {
    await using pod = await ContractPod.run(subject, 'container-remove', signal)
    const containerId = await pod.start('main', 'ignoresTerm')
    await subject.client.removeContainer({ containerId }, signal)
    await assert.rejects(pod.containerStatus(containerId), { code: 'NotFound' })
  },

  'lists containers by id, state, sandbox and labels': async (subject, signal) => {
    await using pod = await ContractPod.run(subject, 'container-list', signal)
    const a = await pod.start('a', 'waitsForTerm')
    const b = await pod.create('b', 'waitsForTerm')
    const rows = [
      [{ id: a }, [a]],
      [{ id: a.slice(0, 12) }, [a]],
      [{ podSandboxId: pod.id }, [a, b]],
      [{ podSandboxId: pod.id, state: { state: CONTAINER_RUNNING } }, [a]],
      [{ podSandboxId: pod.id, state: { state: CONTAINER_CREATED } }, [b]],
      [{ podSandboxId: pod.id, labelSelector: { name: 'b' } }, [b]],
      [{ podSandboxId: pod.id, labelSelector: { name: 'c' } }, []],
      [{ podSandboxId: 'none' }, []],
    ] as const
    for (const [filter, expected] of rows) {
      const { containers } = await subject.client.listContainers({ filter }, signal)
      assert.deepEqual(containers.map(({ id }) => id).sort(), [...expected].sort())
    }
  },

  'changes resources of a container': async (subject, signal) => {
    await using pod = await ContractPod.run(subject, 'container-resize', signal)
    const containerId = await pod.start('main', 'waitsForTerm')
    const linux = { cpuShares: 512n, memoryLimitInBytes: 64n * 1024n * 1024n }
    await subject.client.updateContainerResources({ containerId, linux }, signal)
    const { resources } = await pod.containerStatus(containerId)
    assert.equal(resources?.linux?.cpuShares, 512n)
    assert.equal(resources.linux.memoryLimitInBytes, 67_108_864n)
    const missing = subject.client.updateContainerResources({ containerId: 'none', linux }, signal)
    await assert.rejects(missing, { code: 'NotFound' })
  },
}
