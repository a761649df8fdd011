/** The end-to-end tests once more, on Docker: npm run test:docker. A short form of it is part of npm test. */
import { globSync } from 'node:fs'
import process from 'node:process'
import { LAB_RUNTIME } from '../test/e2e/lab/lab-runtime.ts'
import { runTests } from './run-node-tests.ts'

const API_ALONE = 'about the API of a standalone node: no container runs in it'

/** End-to-end tests that do not run on Docker, and why not. */
export const notOnDocker: Readonly<Record<string, string>> = {
  'test/e2e/kubelet/lost-tasks.test.ts': 'about tasks and shims of containerd, which Docker looks after itself',
  'test/e2e/kubelet/log-rotation.test.ts': 'Docker rotates the logs itself: test/e2e/docker/docker-node.test.ts',
  'test/e2e/runtimes/newer-containerd.test.ts': 'about what containerd 2 can do',
  'test/e2e/standalone/deckhand-up.test.ts': 'about the containerd that "deckhand up" starts for itself',
  'test/e2e/package/artefacts.test.ts': 'about what "npm run package" makes, whose node has a containerd of its own',
  'test/e2e/standalone/without-nft.test.ts': 'about rules of the kernel, and Docker writes its own with iptables',
  'test/e2e/standalone/kubectl.test.ts': API_ALONE,
  'test/e2e/standalone/kubectl-apply.test.ts': API_ALONE,
  'test/e2e/standalone/kubectl-definitions.test.ts': API_ALONE,
  'test/e2e/standalone/kubectl-roles.test.ts': API_ALONE,
}

/** Single cases of the other files that are left out or are refusals on Docker, and why. */
export const casesNotOnDocker: Readonly<Record<string, readonly [test: string, reason: string]>> = {
  'test/e2e/kubelet/streams.test.ts': [
    'port-forward in SPDY in a WebSocket',
    'the streams of Docker come from the process of the test, which is not in the network of the lab: test/e2e/standalone/kubectl-streams.test.ts has it',
  ],
  'test/e2e/kubelet/volume-paths.test.ts': [
    'a container that mounts for others (Bidirectional)',
    'it is privileged: Docker gives those every capability of the kernel, and fails where the machine lacks one',
  ],
  'test/e2e/standalone/page.test.ts': [
    'a log that is followed through a rotation',
    'Docker rotates the logs itself: test/e2e/docker/docker-node.test.ts',
  ],
  'test/e2e/standalone/services.test.ts': [
    'NetworkPolicy',
    'the network of the pods is Docker’s own: a policy is refused with that reason',
  ],
}

/** All files that run on Docker. */
export function listDockerTests(): readonly string[] {
  const all = globSync(['test/contract/docker.test.ts', 'test/docker/*.test.ts', 'test/e2e/*/*.test.ts'])
  return all.filter((file) => !(file in notOnDocker) && file !== LABS).sort()
}

// Tests of the labs themselves.
const LABS = 'test/e2e/lab/lab.test.ts'

if (import.meta.main) {
  process.env[LAB_RUNTIME] = 'docker'
  const files = Object.entries(notOnDocker).map(([file, reason]) => `not on Docker: ${file}: ${reason}\n`)
  const cases = Object.entries(casesNotOnDocker).map(
    ([file, [name, reason]]) => `not on Docker: ${file}, ${name}: ${reason}\n`,
  )
  process.stdout.write([...files, ...cases].join(''))
  const limits = { processes: 2, timeoutMs: 500_000, confirm: true, onDisk: true }
  const group = { name: 'docker', globs: listDockerTests(), ...limits }
  process.exitCode = (await runTests([group])) ? 0 : 1
}
