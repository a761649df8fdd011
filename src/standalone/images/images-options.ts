/** What "deckhand images" is asked to do. */
export type ImagesAction =
  | { readonly kind: 'ls' }
  | { readonly kind: 'pull'; readonly names: readonly string[] }
  | { readonly kind: 'rm'; readonly names: readonly string[] }
  /** From files or folders; "-" is standard input. */
  | { readonly kind: 'load'; readonly files: readonly string[]; readonly name: string | undefined }
  /** Undefined: to standard output. */
  | { readonly kind: 'save'; readonly names: readonly string[]; readonly file: string | undefined }

export interface ImagesOptions {
  readonly state: string
  readonly action: ImagesAction
}
