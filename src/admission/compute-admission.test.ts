import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../test/builders/create-pod.ts'
import type { PodSecurityContext } from '../model/generated/core-v1.ts'
import { computeAdmission } from './compute-admission.ts'
import type { AdmissionFacts } from './compute-admission.ts'

const PLAIN: AdmissionFacts = { allowedSysctls: [], supplementalGroupsPolicy: false, appArmor: false }
const sysctls = [{ name: 'kernel.sem', value: '1' }]
const appArmorProfile = { type: 'RuntimeDefault' }

describe('computeAdmission()', () => {
  const rows: readonly (readonly [PodSecurityContext, Partial<AdmissionFacts>, string | undefined])[] = [
    [{}, {}, undefined],
    [{ supplementalGroupsPolicy: 'Merge' }, {}, undefined],
    [{ supplementalGroupsPolicy: 'Strict' }, {}, 'SupplementalGroupsPolicyNotSupported'],
    [{ supplementalGroupsPolicy: 'Strict' }, { supplementalGroupsPolicy: true }, undefined],
    [{ sysctls, supplementalGroupsPolicy: 'Strict', appArmorProfile }, {}, 'SysctlForbidden'],
    [
      { sysctls, supplementalGroupsPolicy: 'Strict', appArmorProfile },
      { allowedSysctls: ['kernel.sem'] },
      'SupplementalGroupsPolicyNotSupported',
    ],
    [{ supplementalGroupsPolicy: 'Strict', appArmorProfile }, { supplementalGroupsPolicy: true }, 'AppArmor'],
  ]
  for (const [securityContext, node, reason] of rows) {
    test(`${JSON.stringify(securityContext)} on ${JSON.stringify(node)}: ${reason ?? 'admitted'}`, () => {
      assert.equal(computeAdmission(createPod({ spec: { securityContext } }), { ...PLAIN, ...node })?.reason, reason)
    })
  }

  test('says who is at fault', () => {
    const pod = createPod({ spec: { securityContext: { supplementalGroupsPolicy: 'Strict' } } })
    assert.deepEqual(computeAdmission(pod, PLAIN), {
      reason: 'SupplementalGroupsPolicyNotSupported',
      message: 'supplementalGroupsPolicy "Strict" is not supported by the container runtime of this node',
    })
  })
})
