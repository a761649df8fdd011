import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { listDockerTests, notOnDocker } from './run-docker-tests.ts'

test('every test of the agent runs on Docker, or is listed with the reason', () => {
  const files = listDockerTests()
  assert.ok(files.includes('test/contract/docker.test.ts') && files.includes('test/e2e/kubelet/static-pod.test.ts'))
  for (const [file, reason] of Object.entries(notOnDocker)) {
    assert.ok(existsSync(file), file)
    assert.notEqual(reason, '')
  }
})
