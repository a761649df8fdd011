/** A file system in memory for the configuration: path to text, to a folder (null) or to where a link points. */
export class FakeConfigFiles {
  readonly #entries: ReadonlyMap<string, string | null | { readonly link: string }>

  constructor(entries: Readonly<Record<string, string | null | { readonly link: string }>>) {
    this.#entries = new Map(Object.entries(entries))
  }

  async readFile(path: string, maxBytes: number): Promise<Uint8Array> {
    const content = this.#entries.get(this.#follow(path))
    if (content === null)
      throw Object.assign(new Error('EISDIR: illegal operation on a directory, read'), { code: 'EISDIR' })
    if (typeof content !== 'string') throw new Error(`Cannot read "${path}": no such file`)
    const bytes = Buffer.from(content)
    if (bytes.length > maxBytes) throw new Error(`Cannot read "${path}": expected at most ${maxBytes} bytes`)
    return bytes
  }

  async entryKind(path: string): Promise<'file' | 'directory' | 'symlink'> {
    const entry = this.#entries.get(path.endsWith('/') ? this.#follow(path.slice(0, -1)) : path)
    if (entry === undefined) throw new Error(`Cannot stat "${path}": no such file`)
    if (typeof entry === 'string') return 'file'
    return entry === null ? 'directory' : 'symlink'
  }

  async listDirectory(
    path: string,
  ): Promise<readonly { readonly name: string; readonly kind: 'file' | 'directory' | 'symlink' }[]> {
    const folder = this.#follow(path.replace(/\/$/, ''))
    const names = [...this.#entries.keys()]
      .filter((name) => name.startsWith(`${folder}/`) && !name.slice(folder.length + 1).includes('/'))
      .map((name) => name.slice(folder.length + 1))
    return Promise.all(names.map(async (name) => ({ name, kind: await this.entryKind(`${folder}/${name}`) })))
  }

  #follow(path: string): string {
    for (const [name, entry] of this.#entries) {
      if (entry === null || typeof entry === 'string') continue
      if (path === name || path.startsWith(`${name}/`)) return this.#follow(entry.link + path.slice(name.length))
    }
    return path
  }
}
