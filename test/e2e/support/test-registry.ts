import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { StartedProcess } from '../../../src/system/processes/start-process.ts'
import { systemClock } from '../../../src/base/async/clock.ts'
import { machineArchitecture, readNodeImages } from '../../../src/standalone/images/import-images.ts'
import { BUSYBOX_IMAGE } from '../../../src/standalone/images/node-images.ts'
import { createOciArchive } from '../../../src/standalone/images/oci-archive.ts'
import { childPid } from '../lab/lab-namespaces.ts'
import type { Lab } from '../lab/start-lab.ts'
import { waitFor } from './wait-for.ts'

/** The one login that the registry knows. */
export const LOGIN = { username: 'me', password: 'open-sesame' }
// The password's bcrypt hash, which is the only kind that the registry takes.
const HTPASSWD = `${LOGIN.username}:$2b$05$abcdefghijklmnopqrstuutXu9KzOt.1yBoZUeFWoT/914/JfszCO\n`
const REGISTRY_PORT = 5001
const PROXY_PORT = 5000
const FULL_SPEED = 1e9
const proxyScript = fileURLToPath(new URL('registry-proxy.ts', import.meta.url))

/** How pods of the lab name the registry. */
export const REGISTRY = `127.0.0.1:${PROXY_PORT}`

/** A real registry with basic authentication inside a lab, behind a proxy that counts and slows down. Ends with the lab. */
export class TestRegistry {
  readonly #lab: Lab
  readonly #folder: string
  #processes: readonly StartedProcess[] = []

  private constructor(lab: Lab) {
    this.#lab = lab
    this.#folder = `${lab.folder}/registry`
  }

  static async start(lab: Lab): Promise<TestRegistry> {
    const registry = new TestRegistry(lab)
    await registry.#configure()
    await registry.slowDown(FULL_SPEED)
    await registry.run()
    return registry
  }

  /** Starts the processes; again after kill(). */
  async run(): Promise<void> {
    const { execPath } = process
    const speed = `${this.#folder}/speed`
    this.#processes = [
      await this.#lab.startInside(['docker-registry', 'serve', `${this.#folder}/config.yml`], `${this.#folder}/log`),
      await this.#lab.startInside(
        [execPath, proxyScript, String(PROXY_PORT), String(REGISTRY_PORT), speed],
        `${this.#folder}/requests`,
      ),
    ]
    const status = async () => (await this.#lab.network.get(`http://${REGISTRY}/v2/`)).status
    await waitFor('the registry to answer', async () => (await status()) === 401)
  }

  /** SIGKILL; what it holds stays on disk. */
  async kill(): Promise<void> {
    for (const { pid, exited } of this.#processes) {
      process.kill((await childPid(pid)) ?? pid, 'SIGKILL')
      await exited
    }
  }

  async slowDown(bytesPerSecond = FULL_SPEED): Promise<void> {
    await writeFile(`${this.#folder}/speed`, String(bytesPerSecond))
  }

  /** All that was answered so far, as "<status> <method> <path>". */
  async requests(): Promise<readonly string[]> {
    return (await readFile(`${this.#folder}/requests`, 'utf8')).split('\n').filter((line) => line !== '')
  }

  /** Puts busybox under these names; with it a file that no other image has, so that its layer must be downloaded. */
  async push(repositories: readonly string[], uniqueBytes = 1024): Promise<void> {
    const images = await readNodeImages(systemClock, new AbortController().signal)
    const busybox = images.find((image) => image.name === BUSYBOX_IMAGE)
    if (busybox === undefined) throw new Error('Cannot push: there is no busybox image')
    for (const repository of repositories) {
      const name = `127.0.0.1:${REGISTRY_PORT}/${repository}:1`
      const unique = { kind: 'file', path: 'unique', content: randomBytes(uniqueBytes), mode: 0o644 } as const
      const image = { ...busybox, name, files: [...busybox.files, unique] }
      const archive = createOciArchive([image], machineArchitecture)
      const file = `${this.#folder}/image.tar`
      await writeFile(file, archive)
      await this.#ctr('images', 'import', '--no-unpack', file)
      await this.#ctr('images', 'push', '--plain-http', '--user', `${LOGIN.username}:${LOGIN.password}`, name)
      // With its content, so that a pull has something to do.
      await this.#ctr('images', 'rm', '--sync', name)
    }
  }

  /** What the one image of a repository is called by its content. */
  async digest(repository: string): Promise<string> {
    const revisions = `${this.#folder}/storage/docker/registry/v2/repositories/${repository}/_manifests/revisions/sha256`
    const [hash] = await readdir(revisions)
    return `sha256:${hash}`
  }

  /** In a namespace of containerd that CRI does not see: there a removed image leaves nothing behind. */
  async #ctr(...args: readonly string[]): Promise<void> {
    const argv = ['ctr', '--address', this.#lab.runtime.containerdSocket, '--namespace', 'push', ...args]
    const { exitCode, stderr } = await this.#lab.runInside(argv)
    if (exitCode !== 0) throw new Error(`Cannot run "${argv.join(' ')}": exit code ${exitCode}, expected 0: ${stderr}`)
  }

  async #allowHttp(): Promise<void> {
    const { registries } = this.#lab.containerd
    await mkdir(`${registries}/${REGISTRY}`, { recursive: true })
    const url = `http://${REGISTRY}`
    const hosts = `server = "${url}"\n[host."${url}"]\ncapabilities = ["pull", "resolve"]\n`
    await writeFile(`${registries}/${REGISTRY}/hosts.toml`, hosts)
  }

  async #configure(): Promise<void> {
    // Docker takes HTTP from every registry on loopback.
    if (this.#lab.runtime.name === 'containerd') await this.#allowHttp()
    await mkdir(this.#folder)
    await writeFile(`${this.#folder}/htpasswd`, HTPASSWD)
    const config = {
      version: 0.1,
      log: { level: 'warn' },
      storage: { filesystem: { rootdirectory: `${this.#folder}/storage` } },
      auth: { htpasswd: { realm: 'test', path: `${this.#folder}/htpasswd` } },
      http: { addr: `127.0.0.1:${REGISTRY_PORT}` },
    }
    // JSON is YAML.
    await writeFile(`${this.#folder}/config.yml`, JSON.stringify(config))
  }
}
