// The bundler takes style sheets out of the program.
declare module '*.css'
