import assert from 'node:assert/strict'
import { systemClock } from '../../src/base/async/clock.ts'
import { AbortScope } from '../../src/base/async/abort-scope.ts'
import { runRuntimeEvents } from '../../src/protocols/cri/runtime-events.ts'
import type { RuntimeHint } from '../../src/protocols/cri/to-runtime-hint.ts'
import { silentLogger } from '../../src/base/telemetry/silent-logger.ts'
import { ContractPod } from './contract-pod.ts'
import type { ContractCase } from './cri-contract.ts'

/** What the runtime reports without being asked. */
export const eventCases: Readonly<Record<string, ContractCase>> = {
  'hints at starts and ends, not at commands': async (subject, signal) => {
    using scope = new AbortScope(signal)
    const hints: RuntimeHint[] = []
    const streaming = Promise.withResolvers<void>()
    const sandboxStopped = Promise.withResolvers<void>()
    let sandboxId = ''
    const events = runRuntimeEvents(
      {
        client: subject.client,
        clock: systemClock,
        log: silentLogger,
        onState: () => streaming.resolve(),
        onHint: (hint) => {
          hints.push(hint)
          if (hint.kind === 'stopped' && hint.containerId === sandboxId) sandboxStopped.resolve()
        },
      },
      scope.signal,
    )
    await streaming.promise
    await using pod = await ContractPod.run(subject, 'events', signal)
    sandboxId = pod.id
    const containerId = await pod.start('main', 'waitsForTerm')
    await subject.client.execSync({ containerId, cmd: ['true'], timeout: 10n }, signal)
    await subject.client.stopContainer({ containerId, timeout: 10n }, signal)
    await subject.client.stopPodSandbox({ podSandboxId: pod.id }, signal)
    await sandboxStopped.promise
    scope.abort(new Error('seen enough'))
    await events

    // Not every runtime reports what was only made, or that an end is near; some report an end twice.
    const kindsOf = (id: string) => {
      const kinds = hints.filter((hint) => hint.containerId === id).map(({ kind }) => kind)
      return kinds.filter((kind, index) => kind !== 'created' && kind !== 'exited' && kind !== kinds[index - 1])
    }
    assert.deepEqual(kindsOf(pod.id), ['started', 'stopped'])
    assert.deepEqual(kindsOf(containerId), ['started', 'stopped'])
  },
}
