import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { createSandboxSeccompProfile } from '../../../src/standalone/node/runtime/sandbox-seccomp.ts'

interface Profile {
  readonly syscalls: readonly { readonly names: readonly string[] }[]
}

interface RuntimeSpec {
  readonly process: { readonly args: readonly string[] }
  readonly linux: { readonly seccomp?: Profile }
}

/** The sandboxes of a standalone node run under the node's own profile, all other containers under that of the runtime. */
export async function checkSandboxProfile(state: string): Promise<void> {
  const own = countCalls(JSON.parse(createSandboxSeccompProfile()) as Profile)
  const folder = `${state}/containerd/state/io.containerd.runtime.v2.task/k8s.io`
  const ids = await readdir(folder)
  const specs = await Promise.all(ids.map((id) => readFile(`${folder}/${id}/config.json`, 'utf8')))
  const counts = specs.map((text) => {
    const { process, linux } = JSON.parse(text) as RuntimeSpec
    return [process.args[0] === '/pause', countCalls(linux.seccomp)] as const
  })
  assert.deepEqual(new Set(counts.filter(([isSandbox]) => isSandbox).map(([, count]) => count)), new Set([own]))
  const others = counts.filter(([isSandbox]) => !isSandbox)
  assert.ok(others.length > 0 && others.every(([, count]) => count > 2 * own), JSON.stringify(counts))
}

function countCalls(profile: Profile | undefined): number {
  return profile?.syscalls.reduce((sum, { names }) => sum + names.length, 0) ?? 0
}
