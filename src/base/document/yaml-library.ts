/** What parse-yaml.ts needs of the library, which it loads with the first YAML text. By name: of a library in CommonJS, a bundle passes nothing else on. */
export { Composer, isAlias, isCollection, isMap, isScalar, isSeq, Lexer, Parser } from 'yaml'
