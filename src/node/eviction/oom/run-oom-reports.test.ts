import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { loadSettings } from '../../../../test/fakes/load-settings.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import { runOomReports } from './run-oom-reports.ts'

const nothing = { record() {} }

function fail(): never {
  throw Object.assign(new Error("EPERM: open '/dev/kmsg'"), { code: 'EPERM' })
}

describe('runOomReports() where the kernel log is not for it', () => {
  for (const isGateOn of [false, true])
    for (const inUserNamespace of [false, true])
      test(`with the gate ${isGateOn}, in a user namespace ${inUserNamespace}`, async () => {
        const said: string[] = []
        const log = { ...silentLogger, info: () => void said.push('info'), warn: () => void said.push('warn') }
        await runOomReports(
          {
            settings: await loadSettings([`--feature-gates=KubeletInUserNamespace=${isGateOn}`]),
            machine: { inUserNamespace },
            host: { openKernelLog: fail },
            runtime: { observer: { uids: () => [], get: () => undefined } },
            registry: { view: () => undefined },
            membership: { podEvents: nothing, nodeEvents: nothing },
            clock: new FakeClock(),
            log,
          },
          new AbortController().signal,
        )
        assert.deepEqual(said, [isGateOn && inUserNamespace ? 'info' : 'warn'])
      })
})
