import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Container, Pod, PodStatus } from '../../../../model/generated/core-v1.ts'
import { validatePodStatus } from './validate-pod-status.ts'

const status = { name: 'main', image: 'x', imageID: '', ready: false, restartCount: 0 }
const ended = (exitCode: number): PodStatus => ({
  containerStatuses: [{ ...status, state: { terminated: { exitCode } } }],
})
const running: PodStatus = { containerStatuses: [{ ...status, state: { running: {} } }] }

function faults(next: PodStatus, old: PodStatus, restartPolicy: string, fields: Partial<Container> = {}) {
  const spec = { restartPolicy, containers: [{ name: 'main', image: 'x', ...fields }] }
  const pod = (each: PodStatus): Pod => ({ spec, status: each })
  return validatePodStatus(pod(next), pod(old)).map(({ path }) => path.toString())
}

const STATE = 'status.containerStatuses[0].state'
const restartAll = { restartPolicy: 'Never', restartPolicyRules: [{ action: 'RestartAllContainers' }] }

describe('validatePodStatus()', () => {
  const rows: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ['a container that ended for good runs again', faults(running, ended(0), 'Never'), [STATE]],
    ['one that failed runs again', faults(running, ended(1), 'OnFailure'), []],
    ['one that did well runs again where only failures are restarted', faults(running, ended(0), 'OnFailure'), [STATE]],
    ['one that is always restarted', faults(running, ended(0), 'Always'), []],
    ['one with a policy of its own', faults(running, ended(0), 'Never', { restartPolicy: 'Always' }), []],
    ['one whose end restarts all', faults(running, ended(0), 'Never', restartAll), []],
    ['one that stays ended', faults(ended(0), ended(0), 'Never'), []],
    ['an address that is none', faults({ podIPs: [{ ip: 'x' }] }, {}, 'Always'), ['status.podIPs[0]']],
    [
      'two first addresses',
      faults({ podIP: '1.2.3.4', podIPs: [{ ip: '1.2.3.5' }] }, {}, 'Always'),
      ['status.podIPs[0].ip'],
    ],
  ]
  for (const [name, found, expected] of rows) test(name, () => assert.deepEqual(found, expected))
})
