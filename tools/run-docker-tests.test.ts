import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { casesNotOnDocker, listDockerTests, notOnDocker } from './run-docker-tests.ts'

test('every end-to-end test runs on Docker, or is listed with the reason', () => {
  const files = listDockerTests()
  for (const file of ['contract/docker', 'e2e/kubelet/static-pod', 'e2e/cluster/pods', 'e2e/standalone/services'])
    assert.ok(files.includes(`test/${file}.test.ts`), file)
  for (const file of Object.keys(casesNotOnDocker)) assert.ok(files.includes(file), file)
  for (const [file, reason] of Object.entries(notOnDocker)) {
    assert.ok(existsSync(file), file)
    assert.notEqual(reason, '')
  }
})
