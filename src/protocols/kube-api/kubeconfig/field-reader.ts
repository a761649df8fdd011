import type { DocumentObject, DocumentValue, Segments } from '../../../base/document/document-value.ts'
import { KubeconfigError } from './kubeconfig.ts'
import { isRecord } from '../../../base/document/is-record.ts'

/** Reads the fields of a part of a file; what has another type than expected is reported with its place. */
export class FieldReader {
  readonly #object: DocumentObject
  readonly #segments: Segments
  readonly #report: (segments: Segments, problem: string) => KubeconfigError

  constructor(
    value: DocumentValue,
    segments: Segments,
    report: (segments: Segments, problem: string) => KubeconfigError,
  ) {
    this.#segments = segments
    this.#report = report
    if (value !== null && !isRecord(value)) throw report(segments, 'expected an object')
    this.#object = value ?? {}
  }

  fault(name: string, problem: string): KubeconfigError {
    return this.#report(name === '' ? this.#segments : [...this.#segments, name], problem)
  }

  value(name: string): DocumentValue {
    return Object.hasOwn(this.#object, name) ? (this.#object[name] ?? null) : null
  }

  /** Empty when it is not there, as in Go. */
  text(name: string): string {
    const value = this.value(name) ?? ''
    if (typeof value !== 'string') throw this.fault(name, 'expected text')
    return value
  }

  flag(name: string): boolean {
    const value = this.value(name) ?? false
    if (typeof value !== 'boolean') throw this.fault(name, 'expected true or false')
    return value
  }

  texts(name: string): readonly string[] {
    const list = this.#list(name)
    if (!list.every((item) => typeof item === 'string')) throw this.fault(name, 'expected a list of texts')
    return list
  }

  object(name: string): FieldReader {
    return new FieldReader(this.value(name), [...this.#segments, name], this.#report)
  }

  objects(name: string): readonly FieldReader[] {
    return this.#list(name).map((item, index) => new FieldReader(item, [...this.#segments, name, index], this.#report))
  }

  /** Bytes in base64 that are text. */
  decoded(name: string): string {
    const text = this.text(name)
    if (!/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(text)) throw this.fault(name, 'expected base64')
    return Buffer.from(text, 'base64').toString('utf8')
  }

  #list(name: string): readonly DocumentValue[] {
    const value = this.value(name) ?? []
    if (!Array.isArray(value)) throw this.fault(name, 'expected a list')
    return value as readonly DocumentValue[]
  }
}
