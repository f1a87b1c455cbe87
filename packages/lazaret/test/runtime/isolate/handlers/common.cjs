Object.defineProperty(exports, '__esModule', { value: true });
exports.default = (_, ctx) => ctx.skip('compiled to CommonJS');
