import assert from 'node:assert/strict'
import { existsSync, renameSync } from 'node:fs'
import { ContainerState } from '../../src/protocols/cri/generated/runtime-v1.ts'
import { ContractPod } from './contract-pod.ts'
import type { ContractCase } from './cri-contract.ts'

/** What can be done with the process of a container. */
export const processCases: Readonly<Record<string, ContractCase>> = {
  'runs a command in a container': async (subject, signal) => {
    await using pod = await ContractPod.run(subject, 'exec-output', signal)
    const containerId = await pod.start('main', 'waitsForTerm')
    const cmd = ['sh', '-c', 'echo out; echo err >&2; exit 4']
    const reply = await subject.client.execSync({ containerId, cmd, timeout: 10n }, signal)
    assert.deepEqual(reply, { stdout: bytes('out\n'), stderr: bytes('err\n'), exitCode: 4 })
  },

  'ends a command that takes too long': async (subject, signal) => {
    await using pod = await ContractPod.run(subject, 'exec-timeout', signal)
    const containerId = await pod.start('main', 'waitsForTerm')
    const exec = subject.client.execSync({ containerId, cmd: ['sleep', '100'], timeout: 1n }, signal)
    await assert.rejects(exec, { code: 'DeadlineExceeded' })
  },

  'runs commands only in running containers': async (subject, signal) => {
    await using pod = await ContractPod.run(subject, 'exec-state', signal)
    const exec = (containerId: string) => subject.client.execSync({ containerId, cmd: ['true'], timeout: 10n }, signal)
    const created = await pod.create('created', 'fails')
    await assert.rejects(exec(created), {
      code: 'Unknown',
      detail: 'failed to exec in container: container is in CONTAINER_CREATED state',
    })
    const exited = await pod.start('exited', 'fails')
    await pod.reach(exited, ContainerState.CONTAINER_EXITED)
    await assert.rejects(exec(exited), {
      code: 'Unknown',
      detail: 'failed to exec in container: container is in CONTAINER_EXITED state',
    })
    await assert.rejects(exec('none'), { code: 'NotFound' })
  },

  'creates the log file again when asked': async (subject, signal) => {
    await using pod = await ContractPod.run(subject, 'log-reopen', signal)
    const containerId = await pod.create('main', 'waitsForTerm')
    const reopen = () => subject.client.reopenContainerLog({ containerId }, signal)
    await assert.rejects(reopen, { code: 'Unknown', detail: 'container is not running' })
    await subject.client.startContainer({ containerId }, signal)
    const { logPath } = await pod.containerStatus(containerId)
    assert.ok(existsSync(logPath))
    renameSync(logPath, `${logPath}.old`)
    await reopen()
    assert.ok(existsSync(logPath))
  },

  'measures running containers': async (subject, signal) => {
    await using pod = await ContractPod.run(subject, 'stats', signal)
    const running = await pod.start('running', 'waitsForTerm')
    const created = await pod.create('created', 'waitsForTerm')
    const { stats } = await subject.client.listContainerStats({ filter: { podSandboxId: pod.id } }, signal)
    const measured = new Map(stats.map((one) => [one.attributes?.id, one]))
    assert.deepEqual(new Set(measured.keys()), new Set([running, created]))
    assert.ok((measured.get(running)?.cpu?.timestamp ?? 0n) > 0n)
    assert.equal(measured.get(created)?.cpu, undefined)
    assert.notEqual(measured.get(created)?.writableLayer, undefined)
    const alone = await subject.client.containerStats({ containerId: running }, signal)
    assert.equal(alone.stats?.attributes?.id, running)
    await assert.rejects(subject.client.containerStats({ containerId: created }, signal), { code: 'Unknown' })
  },
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
