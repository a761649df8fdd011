import assert from 'node:assert/strict'
import { PAYLOAD } from '../../tools/vm/image-files.ts'
import { NotApplicable } from './support/vm-suite.ts'
import type { VmCheck, VmSuite } from './support/vm-suite.ts'

const CHECKOUT = `${PAYLOAD}/checkout`
const DEADLINE_MS = 3_600_000
// Cases of the contract have run into their thirty seconds there, on a busy host.
const EMULATED_SLOWNESS = 10

/** A file of tests, run by the machine's own Node on the machine itself. */
function fileCheck(file: string, name: string): VmCheck {
  return {
    name,
    run: async ({ machine: { guest, accelerator }, say }) => {
      const slowness = accelerator === 'tcg' ? EMULATED_SLOWNESS : 1
      const { exitCode, stdout } = await guest.attempt(
        `cd ${CHECKOUT} && DECKHAND_TEST_SLOWNESS=${slowness} bin/node --test --test-reporter=tap ${file}`,
        { deadlineMs: DEADLINE_MS },
      )
      const counts = Object.fromEntries(
        ['pass', 'fail', 'cancelled', 'skipped'].map((word) => [
          word,
          new RegExp(`^# ${word} (\\d+)$`, 'm').exec(stdout)?.[1],
        ]),
      )
      // Those that ran into their limit are cancelled, not failed.
      const failed = Number(counts['fail']) + Number(counts['cancelled'])
      say(`          ${file}: ${counts['pass']} passed, ${failed} failed, ${counts['skipped']} skipped\n`)
      assert.equal(exitCode, 0, stdout.split('\n').slice(-80).join('\n'))
      if (counts['pass'] === '0') throw new NotApplicable(/# SKIP (.*)$/m.exec(stdout)?.[1] ?? 'no test ran')
    },
  }
}

/** Tests of the sources that say something else with another kernel, cgroup version or architecture. */
export const sourcesSuite: VmSuite = {
  name: 'sources',
  checks: [
    fileCheck('test/contract/containerd.test.ts', 'the contract of a runtime, on the containerd of this machine'),
    fileCheck('test/kernel/project-quotas.test.ts', 'volumes are counted by project quotas, on ext4 and xfs'),
    fileCheck('test/kernel/pod-cgroups.test.ts', 'cgroups of pods'),
    fileCheck('test/kernel/volume-kinds.test.ts', 'kinds of volumes'),
  ],
}
