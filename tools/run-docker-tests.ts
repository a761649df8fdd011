/** The end-to-end tests once more, on Docker: npm run test:docker. A short form of it is part of npm test. */
import { globSync } from 'node:fs'
import process from 'node:process'
import { LAB_RUNTIME } from '../test/e2e/lab/lab-runtime.ts'
import { runTests } from './run-node-tests.ts'

/** What does not run on Docker, and why not. */
export const notOnDocker: Readonly<Record<string, string>> = {
  'test/e2e/kubelet/lost-tasks.test.ts': 'about tasks and shims of containerd, which Docker looks after itself',
  'test/e2e/kubelet/volume-paths.test.ts':
    'its containers that mount are privileged: Docker gives those every capability of the kernel, and fails where the machine lacks one',
  'test/e2e/kubelet/log-rotation.test.ts': 'Docker rotates the logs itself: test/e2e/docker/docker-node.test.ts',
}

/** All files that run on Docker. */
export function listDockerTests(): readonly string[] {
  const all = globSync([
    'test/contract/docker.test.ts',
    'test/docker/*.test.ts',
    'test/e2e/docker/*.test.ts',
    'test/e2e/kubelet/*.test.ts',
  ])
  const streams = 'test/e2e/standalone/kubectl-streams.test.ts'
  return [...all, streams].filter((file) => !(file in notOnDocker)).sort()
}

if (import.meta.main) {
  process.env[LAB_RUNTIME] = 'docker'
  const reasons = Object.entries(notOnDocker).map(([file, reason]) => `not on Docker: ${file}: ${reason}\n`)
  process.stdout.write(reasons.join(''))
  const limits = { processes: 2, timeoutMs: 500_000, confirm: true, onDisk: true }
  const group = { name: 'docker', globs: listDockerTests(), ...limits }
  process.exitCode = (await runTests([group])) ? 0 : 1
}
