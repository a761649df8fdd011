import { readdir, readFile, writeFile } from 'node:fs/promises'

const DEVICE = 'eth0'

/** The ports of bridges on this machine that the devices of containers hang at. */
export class BridgePorts {
  readonly #devices: string
  readonly #processes: string
  /** The names of devices by their index, which is never given out again. */
  readonly #names = new Map<number, string>()

  constructor({ devices = '/sys/class/net', processes = '/proc' } = {}) {
    this.#devices = devices
    this.#processes = processes
  }

  /** Has the bridge send packets back to the port they came from, when that is the port of the container whose first process this is. */
  async allowHairpin(pid: number): Promise<void> {
    // Where the runtime mounts the container's view of its own devices.
    const inside = `${this.#processes}/${pid}/root/sys/class/net/${DEVICE}`
    const [index, peerIndex] = [await readNumber(`${inside}/ifindex`), await readNumber(`${inside}/iflink`)]
    const name = await this.#find(peerIndex)
    // The index may be that of a device of another network namespace.
    if (name === undefined || (await readNumber(`${this.#devices}/${name}/iflink`)) !== index)
      throw new Error(`no device of this machine is the peer of ${DEVICE} of process ${pid}`)
    await writeFile(`${this.#devices}/${name}/brport/hairpin_mode`, '1', { flag: 'r+' })
  }

  async #find(index: number): Promise<string | undefined> {
    return this.#names.get(index) ?? (await this.#refresh()).get(index)
  }

  /** Reads only what is new: there may be hundreds, and each pod brings one. */
  async #refresh(): Promise<ReadonlyMap<number, string>> {
    const present = new Set(await readdir(this.#devices))
    for (const [index, name] of this.#names) if (!present.delete(name)) this.#names.delete(index)
    for (const name of present) {
      // A device may go meanwhile, and not all that is listed is one.
      const index = await readNumber(`${this.#devices}/${name}/ifindex`).catch(() => undefined)
      if (index !== undefined) this.#names.set(index, name)
    }
    return this.#names
  }
}

async function readNumber(path: string): Promise<number> {
  return Number(await readFile(path, 'utf8'))
}
