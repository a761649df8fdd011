import { encodeOpenApiV2 } from './encode-openapi-v2.ts'
import { createOpenApiV2 } from './openapi-v2.ts'
import type { DocumentV2 } from './openapi-v2.ts'
import { OpenApiV3 } from './openapi-v3.ts'

/** The descriptions of the API, each made when first asked for. */
export class OpenApi {
  readonly v3: OpenApiV3
  readonly #version: string
  #v2: DocumentV2 | undefined
  #v2Bytes: Uint8Array | undefined

  constructor(version: string) {
    this.#version = version
    this.v3 = new OpenApiV3(version)
  }

  v2Text(): string {
    return JSON.stringify(this.#document())
  }

  v2Bytes(): Uint8Array {
    this.#v2Bytes ??= encodeOpenApiV2(this.#document())
    return this.#v2Bytes
  }

  #document(): DocumentV2 {
    this.#v2 ??= createOpenApiV2(this.#version)
    return this.#v2
  }
}
