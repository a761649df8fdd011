import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import process from 'node:process'
import { test } from 'node:test'
import { findKubePrograms, KUBE_BIN } from '../test/control-plane/kube-programs.ts'
import { clusterGroups, describeBehaviour, describeContract } from './run-cluster-tests.ts'

test('the cluster tests say what they want and are skipped when they do not get it', () => {
  const environment = { ...process.env, [KUBE_BIN]: '' }
  const { status, stdout } = spawnSync(process.execPath, ['tools/run-cluster-tests.ts'], { env: environment })
  assert.equal(status, 0)
  assert.match(String(stdout), /^skipped: set KUBE_BIN to a folder with the programs kube-apiserver, .*etcd/)
  assert.match(String(stdout), /\n0 passed, 0 failed, 0 skipped\n$/)
})

test('a folder without the programs is no control plane', () => {
  assert.throws(
    () => findKubePrograms({ [KUBE_BIN]: '/nowhere', PATH: '' }),
    /no program kube-apiserver, kube-controller-manager, kube-scheduler, etcd in it/,
  )
})

test('every group has files, and the contract has cases', () => {
  for (const { globs } of clusterGroups) for (const glob of globs) assert.ok(globSync(glob).length > 0, glob)
  assert.match(
    describeContract(),
    /^contract: \d{3,} cases, \d{3,} of them with the same answer, \d+ with a difference/,
  )
  assert.match(
    describeBehaviour(),
    /^controllers: \d{3,} cases, \d{3,} of them with the same end, \d+ with a difference/,
  )
})
