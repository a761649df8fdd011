import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatDockerName, parseDockerName, SANDBOX_NAME } from './docker-names.ts'

const main = { container: 'main', pod: 'web-lab', namespace: 'default', uid: 'a1b2', attempt: 3 }

describe('names of containers in Docker', () => {
  test('are those that kubelets on Docker always used', () => {
    assert.equal(formatDockerName(main), 'k8s_main_web-lab_default_a1b2_3')
    assert.equal(formatDockerName({ ...main, container: SANDBOX_NAME, attempt: 0 }), 'k8s_POD_web-lab_default_a1b2_0')
    assert.equal(formatDockerName(main, '00c0ffee'), 'k8s_main_web-lab_default_a1b2_3_00c0ffee')
  })

  test('are read back, with and without what Docker puts before them', () => {
    assert.deepEqual(parseDockerName('/k8s_main_web-lab_default_a1b2_3'), main)
    assert.deepEqual(parseDockerName('k8s_main_web-lab_default_a1b2_3_00c0ffee'), main)
  })

  for (const name of [
    '',
    '/web',
    'k8s_main_web_default_a1b2',
    'k8s_main_web_default_a1b2_0_1_2',
    'k8s_main_web_default_a1b2_x',
    'k8s_main_web_default_a1b2_4294967296',
    'other_main_web_default_a1b2_0',
    'k8s_main.1a2b_web.default.etcd_1234_5678',
  ])
    test(`"${name}" is none of ours`, () => assert.equal(parseDockerName(name), undefined))
})
