/** Which pod has which ids, in memory. */
export class FakeUserNamespaceRecords {
  readonly texts = new Map<string, string>()
  readonly setAsides: string[] = []
  failure: Error | undefined

  async readAll() {
    return [...this.texts].map(([uid, text]) => ({ uid, text }))
  }

  async write(uid: string, text: string): Promise<void> {
    if (this.failure !== undefined) throw this.failure
    this.texts.set(uid, text)
  }

  async setAside(uid: string): Promise<void> {
    this.setAsides.push(uid)
    this.texts.delete(uid)
  }

  async remove(uid: string): Promise<void> {
    this.texts.delete(uid)
  }
}
